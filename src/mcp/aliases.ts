/** Former tool names and their current names. Published names are never removed: clients may still call them. */
export const aliases: Readonly<Record<string, string>> = {
  svc_map_vscode_session: 'svc_map_agent_session',
}
