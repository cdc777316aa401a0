import {readFile} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'

let options: {ca?: string[]} = {}

/** Certificate authorities trusted by this process, as options of `tls.connect`. */
export const trustOptions = (): {ca?: string[]} => options

/**
 * Makes this process trust the certificate authorities of a PEM file, in addition to those of Node.js.
 * @throws tls_ca_unusable; file system errors
 */
export async function trustAuthorities(path: string): Promise<void> {
  const [pem, {Agent, setGlobalDispatcher}, {X509Certificate}, {default: tls}] = await Promise.all([
    readFile(path, 'utf8'),
    import('undici'),
    import('node:crypto'),
    import('node:tls'),
  ])
  try {
    // Validate it, because Node.js silently ignores invalid certificates.
    new X509Certificate(pem)
  } catch (error) {
    throw new SvcError('tls_ca_unusable', {path, reason: (error as Error).message}, {cause: error})
  }
  // Available since Node.js 22.15. Only this function includes the certificates of NODE_EXTRA_CA_CERTS.
  const {getCACertificates} = tls as {getCACertificates?: () => string[]}
  options = {ca: [...(getCACertificates?.() ?? tls.rootCertificates), pem]}
  setGlobalDispatcher(new Agent({connect: options}))
}

/** Error codes of certificates without a trusted authority. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Converts a connection error to a catalogue error. */
export function connectionFault(url: string, error: unknown): SvcError<'certificate_untrusted' | 'unreachable'> {
  const {code = '', message} = error as NodeJS.ErrnoException
  if (untrusted.has(code)) return new SvcError('certificate_untrusted', {url, reason: message}, {cause: error})
  const reason = code === 'ECONNREFUSED' ? 'connection refused' : message || code
  return new SvcError('unreachable', {url, reason}, {cause: error})
}
