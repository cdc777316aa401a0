import {X509Certificate} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import tls from 'node:tls'
import {SvcError} from '../errors/index.js'

let options: {ca?: string[]} = {}

/** What all connections of this process trust, as options of `tls.connect`. */
export const trustOptions = (): {ca?: string[]} => options

/**
 * Has this process trust the certificate authorities of a PEM file, in addition to those of Node.js.
 * @throws tls_ca_unusable; what reading throws
 */
export async function trustAuthorities(path: string): Promise<void> {
  const [pem, {Agent, setGlobalDispatcher}] = await Promise.all([readFile(path, 'utf8'), import('undici')])
  try {
    // Node.js passes over what is not a certificate without a word.
    new X509Certificate(pem)
  } catch (error) {
    throw new SvcError('tls_ca_unusable', {path, reason: (error as Error).message}, {cause: error})
  }
  // Node 22.15 added the function; only it knows the certificates of NODE_EXTRA_CA_CERTS.
  const {getCACertificates} = tls as {getCACertificates?: () => string[]}
  options = {ca: [...(getCACertificates?.() ?? tls.rootCertificates), pem]}
  setGlobalDispatcher(new Agent({connect: options}))
}

/** Faults of certificates that an authority could vouch for. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Why a server could not be reached, by the fault of its connection. */
export function connectionFault(url: string, fault: unknown): SvcError<'certificate_untrusted' | 'unreachable'> {
  const {code = '', message} = fault as NodeJS.ErrnoException
  if (untrusted.has(code)) return new SvcError('certificate_untrusted', {url, reason: message}, {cause: fault})
  const reason = code === 'ECONNREFUSED' ? 'nothing listens there' : message || code
  return new SvcError('unreachable', {url, reason}, {cause: fault})
}
