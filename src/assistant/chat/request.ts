/** A message to a model with the state of the editor. */
export interface MessageRequest {
  readonly prompt: string
  /** Workspace files to send to the model. */
  readonly contextFiles?: readonly string[] | undefined
  readonly openFiles?: readonly string[] | undefined
  readonly activeFile?: string | undefined
  /** From 1. */
  readonly activeLine?: number | undefined
  readonly selectedText?: string | undefined
  /** The editor's diagnostics: sentences, or objects in its own format. */
  readonly diagnostics?: readonly (string | object)[] | undefined
  /** The answer must be JSON. */
  readonly jsonMode?: boolean | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  /** Stored with the turn, but not interpreted. */
  readonly attachmentManifest?: unknown
}
