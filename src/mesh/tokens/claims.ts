/** What a token that names its role itself is made of, on the side that makes it and on the one that reads it. */

export const tokenAudience = 'svc-mesh'
export const tokenAlgorithm = 'HS256'

/** Longest life of such a token, s. */
export const longestTokenLifeSec = 3600

/** Roles that such a token may name. */
export const tokenRoles = ['mesh', 'admin', 'worker', 'submitter'] as const
export type TokenRole = (typeof tokenRoles)[number]
