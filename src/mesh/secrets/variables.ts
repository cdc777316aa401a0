import {tokenVariables} from '../protocol/roles.js'

const {mesh, worker, submitter, admin} = tokenVariables

/** Variables of the role tokens in a `mesh.env`. */
export const roleTokens = [mesh, worker, submitter, admin] as const

export const jwtSecret = 'SVC_MESH_JWT_HMAC_SECRET'

/** Names of the permanent secrets that are set. */
export const heldSecrets = (values: ReadonlyMap<string, string>): string[] =>
  [...roleTokens, jwtSecret].filter((name) => values.has(name))
