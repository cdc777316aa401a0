import {randomUUID} from 'node:crypto'

/** Claims and algorithm of signed tokens, for signing and verification. */
export const tokenAudience = 'svc-mesh'
export const tokenAlgorithm = 'HS256'

/** Maximum lifetime of a signed token, s. */
export const maxTokenLifeSec = 3600

/** Roles that a signed token may contain. */
export const tokenRoles = ['mesh', 'admin', 'worker', 'submitter'] as const
export type TokenRole = (typeof tokenRoles)[number]

export interface MintedToken {
  role: TokenRole
  /** Restricts the token to a node. */
  node?: string | undefined
  /** Restricts the token to a scope, unless empty. */
  scope?: string | undefined
  /** Lifetime, s; default 60, maximum 3600. */
  lifeSec?: number
  /** Time of the control plane if known, Unix ms; default: local time. */
  nowMs?: number
}

/** Creates a signed token (HS256) with a unique id. */
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
    .setExpirationTime(issued + Math.min(lifeSec, maxTokenLifeSec))
  if (node) token.setSubject(node)
  return token.sign(new TextEncoder().encode(secret))
}
