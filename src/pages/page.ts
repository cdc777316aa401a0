import {createHash} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'

/** A self-contained web page. */
export interface WebPage {
  html: string
  /** Headers of its response; the content security policy permits only its own inline script and style, and no frames. */
  headers: Readonly<Record<string, string>>
}

/**
 * Reads a page.
 * @param folder build output of a page: document, style and script
 * @param sources additional sources of the content security policy, by directive
 */
export async function loadPage(folder: string, sources: Readonly<Record<string, string>> = {}): Promise<WebPage> {
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  const [html, style, script] = await Promise.all([read('index.html'), read('style.css'), read('script.js')])
  const policy = new Map([
    ['default-src', "'none'"],
    ['script-src', hashOf(script)],
    ['style-src', hashOf(style)],
    ['connect-src', "'self'"],
    ['img-src', 'data:'],
    ['base-uri', "'none'"],
    ['form-action', "'none'"],
    ['frame-ancestors', "'none'"],
    ['require-trusted-types-for', "'script'"],
    ['trusted-types', "'none'"],
  ])
  for (const [name, source] of Object.entries(sources))
    policy.set(name, policy.has(name) ? `${policy.get(name)} ${source}` : source)
  return {
    html: html.replace('<style>', () => `<style>${style}`).replace('<script>', () => `<script>${script}`),
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': [...policy].map((directive) => directive.join(' ')).join('; '),
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  }
}

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
