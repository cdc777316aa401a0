import {posix} from 'node:path'

/** Length of the reason in a report, UTF-16 code units. */
const maxLength = 200

/** Returns the message of an error without what may be private: of URLs only the origin, of paths only the base name. */
export function failureText(error: unknown): string {
  const {message = error} = Object(error) as {message?: unknown}
  return String(message)
    .replace(/\b[a-z][a-z\d+.-]*:\/\/[^\s"'<>]*[^\s"'<>.,:;)]/gi, publicName)
    .replace(/(?<![\w:/\\])(?:~|\.{1,2}|[A-Z]:)?[/\\][^\s"'<>:]*[^\s"'<>.,:;)]/gi, publicName)
    .slice(0, maxLength)
}

/** The origin of a URL, or the base name of a path. */
export function publicName(location: string): string {
  const {protocol, host} = URL.canParse(location) ? new URL(location) : {protocol: '', host: ''}
  return host === '' ? posix.basename(location.replaceAll('\\', '/')) : `${protocol}//${host}`
}
