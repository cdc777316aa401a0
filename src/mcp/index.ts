/** The tool server: the operations of the workspace as tools of the Model Context Protocol. */
export {}
