import {createHmac} from 'node:crypto'

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A compact JWS made by hand, so that it can be wrong in any way. */
export function signedToken(
  claims: object,
  secret: string,
  {header = {alg: 'HS256', typ: 'JWT'}, digest = 'sha256'}: {header?: object; digest?: string} = {},
): string {
  const signed = `${part(header)}.${part(claims)}`
  return `${signed}.${createHmac(digest, secret).update(signed).digest('base64url')}`
}
