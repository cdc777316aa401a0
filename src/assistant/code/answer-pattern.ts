import type {SurfaceMode} from './surface.js'

/** A line that is not the fence of a block, as `fencedBlocks` reads it. `\x60` is a backtick. */
const line = String.raw`(?: {4}.*| {0,3}(?:(?:[^ \x60~\n\r]|\x60{1,2}[^\x60\n\r]|~{1,2}[^~\n\r]).*|\x60{0,2}|~{0,2}))`

/** The first line of a program: a comment or the beginning of a declaration. */
const firstLine = '(?://|#|@|(?:pub|fn|type|http) ).*'

/**
 * Regular expressions of the answers that have a form. A server that enforces them excludes code fences and introductions
 * of raw programs, and missing, open or several fenced blocks. `readSurface` still checks an answer, because not every
 * server does.
 */
export const answerPatterns: Readonly<Record<SurfaceMode, string>> = {
  raw_code_only: String.raw`${firstLine}(?:\n${line})*`,
  fenced_transport: String.raw`(?:${line}\n)*\x60{3}[a-z]*\n(?:${line}\n)+\x60{3}(?:\n${line})*`,
}
