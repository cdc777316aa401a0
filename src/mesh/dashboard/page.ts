import {createHash} from 'node:crypto'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {packageRoot} from '../../files/index.js'

/** Where the build puts the files of `page/`, with the modules of its script in one file. */
const folder = join(packageRoot, 'dist', 'src', 'mesh', 'dashboard', 'page')

export interface Page {
  /** One document that needs nothing from elsewhere. What it shows comes to it as a stream of events. */
  html: string
  /** Runs the script and the style of the page and no other, talks to its own server alone, and stands in no frame. */
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
