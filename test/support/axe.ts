import {readFile} from 'node:fs/promises'
import {createRequire} from 'node:module'
import type {Page} from 'playwright-core'

const path = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The faults of a page that axe-core calls serious or critical, with the elements that have them. */
export async function seriousFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(await readFile(path, 'utf8'))
  return page.evaluate(`axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations
    .filter(({impact}) => impact === 'serious' || impact === 'critical')
    .map(({id, nodes}) => id + ': ' + nodes.map(({html}) => html.slice(0, 120)).join(' ')))`)
}
