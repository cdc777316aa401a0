import {tokenVariables} from '../protocol/roles.js'

const {mesh, worker, submitter, admin} = tokenVariables

/** Variables of a `mesh.env` that hold the tokens of the roles. */
export const roleTokens = [mesh, worker, submitter, admin] as const

export const jwtSecret = 'SVC_MESH_JWT_HMAC_SECRET'

/** Those of them that let in for longer than once, as far as they are set. */
export const heldSecrets = (values: ReadonlyMap<string, string>): string[] =>
  [...roleTokens, jwtSecret].filter((name) => values.has(name))
