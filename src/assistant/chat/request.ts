/** A message to a model, and what the editor shows while it is written. */
export interface MessageRequest {
  readonly prompt: string
  /** Files of the workspace that the model reads. */
  readonly contextFiles?: readonly string[] | undefined
  readonly openFiles?: readonly string[] | undefined
  readonly activeFile?: string | undefined
  /** From 1. */
  readonly activeLine?: number | undefined
  readonly selectedText?: string | undefined
  /** What the editor complains about: sentences, or objects of its own shape. */
  readonly diagnostics?: readonly (string | object)[] | undefined
  /** The answer is to be JSON. */
  readonly jsonMode?: boolean | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  /** Kept with the turn, and not read. */
  readonly attachmentManifest?: unknown
}
