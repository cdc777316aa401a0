import {createPublicKey, generateKeyPairSync, type KeyObject, sign} from 'node:crypto'

/** A self-signed certificate for 127.0.0.1 and localhost and its key, both in PEM. Valid for one day. */
export function selfSigned(): {cert: string; key: string} {
  const {privateKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'})
  const body = certificateBody(createPublicKey(privateKey))
  const signature = sign('sha256', body, privateKey)
  const der = sequence(body, ecdsaWithSha256, bits(signature))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({type: 'pkcs8', format: 'pem'}) as string,
  }
}

/** The signed part of a version 3 certificate (RFC 5280, 4.1.2). */
function certificateBody(publicKey: KeyObject): Buffer {
  const name = sequence(set(sequence(oid(0x55, 4, 3), tagged(0x0c, Buffer.from('localhost')))))
  const now = Date.now()
  const names = sequence(tagged(0x82, Buffer.from('localhost')), tagged(0x87, Buffer.from([127, 0, 0, 1])))
  return sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    name,
    sequence(time(now - 60_000), time(now + 86_400_000)),
    name,
    publicKey.export({type: 'spki', format: 'der'}),
    tagged(0xa3, sequence(sequence(oid(0x55, 0x1d, 0x11), tagged(0x04, names)))),
  )
}

/** DER: tag, length and contents (X.690). */
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const {length} = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Buffer[]) => tagged(0x30, ...parts)
const set = (...parts: readonly Buffer[]) => tagged(0x31, ...parts)
const integer = (value: number) => tagged(0x02, Buffer.from([value]))
const bits = (content: Buffer) => tagged(0x03, Buffer.from([0]), content)
const oid = (...bytes: readonly number[]) => tagged(0x06, Buffer.from(bytes))
/** `YYYYMMDDHHMMSSZ` */
const time = (ms: number) => tagged(0x18, Buffer.from(new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '')))
const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2))
