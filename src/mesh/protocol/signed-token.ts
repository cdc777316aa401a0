import {randomUUID} from 'node:crypto'

/** What a token that names its role itself is made of, on the side that makes it and on the one that reads it. */
export const tokenAudience = 'svc-mesh'
export const tokenAlgorithm = 'HS256'

/** Longest life of such a token, s. */
export const longestTokenLifeSec = 3600

/** Roles that such a token may name. */
export const tokenRoles = ['mesh', 'admin', 'worker', 'submitter'] as const
export type TokenRole = (typeof tokenRoles)[number]

export interface MintedToken {
  role: TokenRole
  /** The only node that it is good for. */
  node?: string | undefined
  /** The only scope that it is good for; empty is none. */
  scope?: string | undefined
  /** At most 3600; 60 when left out. */
  lifeSec?: number
  /** Clock of the control plane where the caller knows it, Unix ms. */
  nowMs?: number
}

/** Makes a token that names its role itself, HS256, with an id of its own. */
export async function mintToken(
  secret: string,
  {role, node, scope, lifeSec = 60, nowMs = Date.now()}: MintedToken,
): Promise<string> {
  const {SignJWT} = await import('jose')
  const issued = Math.floor(nowMs / 1000)
  const claims = {role, ...(scope ? {scp: scope} : {})}
  const token = new SignJWT(claims)
    .setProtectedHeader({alg: tokenAlgorithm, typ: 'JWT'})
    .setAudience(tokenAudience)
    .setJti(randomUUID())
    .setIssuedAt(issued)
    .setExpirationTime(issued + Math.min(lifeSec, longestTokenLifeSec))
  if (node) token.setSubject(node)
  return token.sign(new TextEncoder().encode(secret))
}
