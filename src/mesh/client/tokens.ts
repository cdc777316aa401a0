import {type Plane, tokenVariables} from '../protocol/roles.js'
import {mintToken, type TokenRole} from '../protocol/signed-token.js'

/** What a client can show to a control plane. Whatever it has, it shows what fits the request. */
export interface MeshTokens {
  /** Token of each role. */
  mesh?: string | undefined
  worker?: string | undefined
  submitter?: string | undefined
  admin?: string | undefined
  /** Key to make a token with, where there is none that fits. */
  jwtHmacSecret?: string | undefined
  /** Whose token is made: the node and the scope that it is bound to. */
  nodeId?: string | undefined
  scope?: string | undefined
}

interface Choice {
  /** The first of them that there is. */
  readonly tokens: readonly ('mesh' | 'worker' | 'submitter' | 'admin')[]
  /** Role of a token that is made where there is none. */
  readonly minted?: TokenRole
}

const choices: Readonly<Record<Plane, Choice>> = {
  open: {tokens: []},
  worker: {tokens: ['mesh', 'worker', 'admin'], minted: 'worker'},
  deliver: {tokens: ['mesh', 'submitter', 'admin'], minted: 'submitter'},
  admin: {tokens: ['mesh', 'admin'], minted: 'admin'},
  // Its token comes with the request.
  bootstrap: {tokens: []},
}

/** How long a token that was made for one request is good, s. */
const lifeSec = 60

/**
 * The token for a route of a plane, chosen for each request: whoever holds the tokens of a worker and of a submitter
 * does the work of both. One is made for every single request, since a control plane may take it once.
 * @returns undefined where there is none
 */
export async function chooseToken(tokens: MeshTokens, plane: Plane): Promise<string | undefined> {
  const choice = choices[plane]
  const held = choice.tokens.map((role) => tokens[role]?.trim()).find((token) => token)
  const {jwtHmacSecret: secret, nodeId: node, scope} = tokens
  if (held !== undefined || !secret || choice.minted === undefined) return held
  return mintToken(secret, {role: choice.minted, node, scope, lifeSec})
}

/** Variables that could hold a token for a plane: that of its own role first. */
export const variablesFor = (plane: Plane): string[] => {
  const [any, own] = choices[plane].tokens
  return [own, any].flatMap((role) => (role === undefined ? [] : [tokenVariables[role]]))
}

/** Every secret among the tokens. */
export const secretsOf = ({mesh, worker, submitter, admin, jwtHmacSecret}: MeshTokens): string[] =>
  [mesh, worker, submitter, admin, jwtHmacSecret].flatMap((secret) => (secret?.trim() ? [secret.trim()] : []))
