/** Variables of a `mesh.env` that hold the tokens of the roles. */
export const roleTokens = [
  'SVC_MESH_TOKEN',
  'SVC_MESH_WORKER_TOKEN',
  'SVC_MESH_SUBMITTER_TOKEN',
  'SVC_MESH_ADMIN_TOKEN',
] as const

export const jwtSecret = 'SVC_MESH_JWT_HMAC_SECRET'

/** Those of them that let in for longer than once, as far as they are set. */
export const heldSecrets = (values: ReadonlyMap<string, string>): string[] =>
  [...roleTokens, jwtSecret].filter((name) => values.has(name))
