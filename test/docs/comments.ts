import type {Text} from './prose.js'

/**
 * The comments of a TypeScript module, each with its first line: blocks of documentation, and lines that follow each
 * other. A tag begins a sentence. Examples and the names of parameters are code, so they are left out.
 */
export const commentsOf = (path: string, source: string): Text[] =>
  [...source.matchAll(/^[ \t]*(?:\/\*\*[\s\S]*?\*\/|(?:\/\/ .*\n[ \t]*)+)/gm)].map(({0: comment, index}) => ({
    place: `${path}:${source.slice(0, index).split('\n').length}`,
    text: comment
      .replaceAll(/^[ \t]*(?:\/\*\*|\*\/?|\/\/)[ \t]?|\*\/$/gm, '')
      .replaceAll(/@example[\s\S]*/g, '')
      .replaceAll(/@param\s+\S+|@(?:throws|returns|see)\b/g, '\n\n'),
  }))
