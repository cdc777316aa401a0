import type {Pattern} from '../grammar.js'
import {characters, either, type Ranges, sequence, text} from './build.js'

/** The pattern with each letter in upper and lower case. */
export function ignoringCase(pattern: Pattern): Pattern {
  switch (pattern.kind) {
    case 'text':
      return sequence(...[...pattern.text].map((each) => either(...variants(each).map(text))))
    case 'characters':
      return characters([...pattern.ranges, ...pattern.ranges.flatMap(otherCases)])
    case 'either':
      return {kind: 'either', options: pattern.options.map(ignoringCase)}
    case 'sequence':
    case 'both':
      return {kind: pattern.kind, parts: pattern.parts.map(ignoringCase)}
    case 'repeat':
    case 'not':
      return {...pattern, part: ignoringCase(pattern.part)}
  }
}

/** A character and its one-character forms in the other case. */
const variants = (character: string): string[] => {
  const forms = [character, character.toLowerCase(), character.toUpperCase()]
  return [...new Set(forms.filter((form) => [...form].length === 1))]
}

/** Letters have another case only below U+1E944. */
const lastCased = 0x1_e9_43

function otherCases([from, to]: readonly [number, number]): Ranges {
  const ranges: [number, number][] = []
  for (let point = from; point <= Math.min(to, lastCased); point++) {
    for (const form of variants(String.fromCodePoint(point)).slice(1)) {
      ranges.push([form.codePointAt(0)!, form.codePointAt(0)!])
    }
  }
  return ranges
}
