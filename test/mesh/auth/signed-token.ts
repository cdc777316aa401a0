import {createHmac} from 'node:crypto'

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Creates a compact JWS manually, so that it can be invalid. */
export function signedToken(
  claims: object,
  secret: string,
  {header = {alg: 'HS256', typ: 'JWT'}, digest = 'sha256'}: {header?: object; digest?: string} = {},
): string {
  const signed = `${part(header)}.${part(claims)}`
  return `${signed}.${createHmac(digest, secret).update(signed).digest('base64url')}`
}
