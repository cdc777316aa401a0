/** Checks the links between the pages of the project: that the file exists, and that it has the heading. */
import {existsSync, readdirSync, readFileSync, statSync} from 'node:fs'
import {dirname, join, normalize} from 'node:path'
import type {ProseFinding} from './prose.js'

const skipped = new Set(['node_modules', '.git', 'dist'])

/** The Markdown files below a folder, relative to it. */
export const pagesBelow = (root: string, folder = ''): string[] =>
  readdirSync(join(root, folder), {withFileTypes: true}).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : pagesBelow(root, path)
    return entry.name.endsWith('.md') ? [path] : []
  })

/** The anchors that GitHub gives to the headings of a page: the words in lower case, numbered if they are repeated. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of withoutBlocks(text).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const words = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    let anchor = words
    for (let i = 1; anchors.has(anchor); i++) anchor = `${words}-${i}`
    anchors.add(anchor)
  }
  for (const [, name = ''] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(name)
  return anchors
}

const withoutBlocks = (text: string): string => text.replaceAll(/^```.*?^```$/gms, '')

/** The links of pages that lead nowhere. Addresses with a scheme are not followed. */
export function linkFindings(root: string, pages: readonly string[]): ProseFinding[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const anchors = new Map<string, Set<string>>()
  const hasAnchor = (page: string, anchor: string) => {
    const known = anchors.get(page) ?? anchorsOf(read(page))
    anchors.set(page, known)
    return known.has(anchor)
  }
  return pages.flatMap((page) =>
    [...withoutBlocks(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^\w+:/.test(link)) return []
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)))
      const finding = (rule: string) => [{place: page, rule: `${link}: ${rule}`}]
      if (!existsSync(join(root, target))) return finding('this file does not exist')
      if (anchor === undefined || !target.endsWith('.md') || statSync(join(root, target)).isDirectory()) return []
      return hasAnchor(target, anchor) ? [] : finding('the page has no such heading')
    }),
  )
}
