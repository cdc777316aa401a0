const placeholder =
  /^(?:your|dummy|fake|sample|change|replace|insert|enter)[-_]?[a-z]|example|placeholder|changeme|redacted|x{4,}|\*{3,}|\.\.\.|…|<|>|\$\{|\{\{|\$\(|%[A-Z_]+%|process\.env|environ|getenv|env\(/i
/** File names, paths, addresses and patterns. */
const location = /^[./~\\]|^urn:|:\/\/|\.[a-z]{2,4}$|\[.*\]/i
/** Words joined by punctuation, with short numbers: `refresh-token-v2`. */
const words = /^(?:[a-z]+|[A-Z]+|[A-Z][a-z]+|v?\d{1,6})(?:[-_.:/](?:[a-z]+|[A-Z]+|[A-Z][a-z]+|v?\d{1,6}))*$/
/** A name such as `base64EncodedToken`. */
const camelCase = /^[a-z]{2,}\d{0,3}(?:[A-Z][a-z]{2,}\d{0,3})+$/

/** True if a literal looks like a generated secret rather than a name, a path or a placeholder. */
export const looksRandom = (value: string): boolean =>
  /[a-z]/i.test(value) &&
  /\d/.test(value) &&
  ![placeholder, location, words, camelCase].some((pattern) => pattern.test(value)) &&
  !isJwt(value) &&
  !/^(?:AKIA|ASIA)[A-Z0-9]{16}$/.test(value)

/** True if the first of three parts decodes to a JSON object. */
export function isJwt(value: string): boolean {
  const [header = '', , signature] = value.split('.')
  if (!header.startsWith('eyJ') || signature === undefined) return false
  try {
    const decoded: unknown = JSON.parse(Buffer.from(header, 'base64url').toString())
    return typeof decoded === 'object' && decoded !== null
  } catch {
    return false
  }
}

/** The documentation of AWS uses keys that end in EXAMPLE. */
export const isAwsKey = (value: string): boolean => !value.endsWith('EXAMPLE')
