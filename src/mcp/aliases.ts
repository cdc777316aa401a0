/**
 * Names that tools had before, and what they are called now. A name that was ever published stays here for good: it is
 * resolved before anything else, takes the same arguments, and is not listed.
 */
export const aliases: Readonly<Record<string, string>> = {
  svc_map_vscode_session: 'svc_map_agent_session',
}
