import {createHash} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {packageRoot} from '../../files/index.js'

/** Build output of `page/`, with the script bundled into one file. */
const folder = join(packageRoot, 'dist', 'src', 'mesh', 'dashboard', 'page')

export interface Page {
  /** Self-contained document. It receives its data as an event stream. */
  html: string
  /** Content security policy: only the inline script and style, connections only to this server, no frames. */
  contentPolicy: string
}

export async function loadPage(): Promise<Page> {
  const [html, style, script] = await Promise.all([read('index.html'), read('style.css'), read('script.js')])
  const contentPolicy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  return {
    html: html.replace('<style>', () => `<style>${style}`).replace('<script>', () => `<script>${script}`),
    contentPolicy,
  }
}

const read = (name: string) => readFile(join(folder, name), 'utf8')

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
