import {type Plane, tokenVariables} from '../protocol/roles.js'
import {mintToken, type TokenRole} from '../protocol/signed-token.js'

/** Tokens of a client, from which it chooses for each request. */
export interface MeshTokens {
  /** Token of each role. */
  mesh?: string | undefined
  worker?: string | undefined
  submitter?: string | undefined
  admin?: string | undefined
  /** Key for signing a token if no suitable token is set. */
  jwtHmacSecret?: string | undefined
  /** Node and scope to which signed tokens are bound. */
  nodeId?: string | undefined
  scope?: string | undefined
}

interface Choice {
  /** Candidate tokens; the first one set is used. */
  readonly tokens: readonly ('mesh' | 'worker' | 'submitter' | 'admin')[]
  /** Role of a signed token if no candidate is set. */
  readonly minted?: TokenRole
}

const choices: Readonly<Record<Plane, Choice>> = {
  open: {tokens: []},
  worker: {tokens: ['mesh', 'worker', 'admin'], minted: 'worker'},
  deliver: {tokens: ['mesh', 'submitter', 'admin'], minted: 'submitter'},
  blob: {tokens: ['mesh', 'worker', 'submitter', 'admin'], minted: 'worker'},
  admin: {tokens: ['mesh', 'admin'], minted: 'admin'},
  // The caller passes the bootstrap token with the request.
  bootstrap: {tokens: []},
}

/** Lifetime of a token signed for one request, s. */
const lifeSec = 60

/**
 * Chooses the token for a plane per request, so that a client with a worker and a submitter token can use both planes.
 * Signed tokens are created for each request, because a control plane may accept them only once.
 * @returns undefined if there is no suitable token
 */
export async function chooseToken(tokens: MeshTokens, plane: Plane): Promise<string | undefined> {
  const choice = choices[plane]
  const held = choice.tokens.map((role) => tokens[role]?.trim()).find((token) => token)
  const {jwtHmacSecret: secret, nodeId: node, scope} = tokens
  if (held !== undefined || !secret || choice.minted === undefined) return held
  return mintToken(secret, {role: choice.minted, node, scope, lifeSec})
}

/** Environment variables that could contain a token for a plane, most specific first. */
export const variablesFor = (plane: Plane): string[] => {
  const [any, own] = choices[plane].tokens
  return [own, any].flatMap((role) => (role === undefined ? [] : [tokenVariables[role]]))
}

/** All secrets of the tokens. */
export const secretsOf = ({mesh, worker, submitter, admin, jwtHmacSecret}: MeshTokens): string[] =>
  [mesh, worker, submitter, admin, jwtHmacSecret].flatMap((secret) => (secret?.trim() ? [secret.trim()] : []))
