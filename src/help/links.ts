import {type Commands, nameOf} from './manifest.js'
import {kindOf, type Passage} from './passages.js'

/**
 * The numbers of the passages that are about the same thing as each passage. A section is about the commands that it shows, and
 * about the errors and settings that it names.
 */
export function linksOf(passages: readonly Passage[], commands: Commands): number[][] {
  const targets = new Map<string, number>()
  passages.forEach(({page, headings}, id) => {
    const kind = kindOf(page)
    if (kind === 'command') targets.set(page.replace(/ --help$/, ''), id)
    else if (kind === 'error') targets.set(headings[0] ?? '', id)
    else for (const [, name = ''] of (headings.at(-1) ?? '').matchAll(/`([\w.]+)`/g)) targets.set(name, id)
  })
  const links = passages.map(() => new Set<number>())
  passages.forEach(({text}, id) => {
    for (const name of namesIn(text, commands)) {
      const target = targets.get(name)
      if (target === undefined || target === id) continue
      links[id]?.add(target)
      links[target]?.add(id)
    }
  })
  return links.map((each) => [...each].sort((a, b) => a - b))
}

/** Commands, errors and settings that a text names in code. */
function namesIn(text: string, commands: Commands): Set<string> {
  const spans = [...text.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name)
  const lines = [...text.matchAll(/\bsvc((?: [a-z][\w-]*)+)/g)].map(([, words = '']) => words.trim().split(' '))
  const named = lines.flatMap((words) => {
    const length = [3, 2, 1].find((count) => Object.hasOwn(commands, words.slice(0, count).join(':')))
    return length === undefined ? [] : [nameOf({id: words.slice(0, length).join(':')})]
  })
  return new Set([...spans, ...named])
}
