/** Any case: the name of a scheme has none (RFC 9110, 11.1). */
const bearer = /^\s*bearer[ \t]+(\S+)\s*$/i

/** The token of an `Authorization` header. */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
