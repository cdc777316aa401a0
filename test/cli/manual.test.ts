import assert from 'node:assert/strict'
import {readdir, readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {Config} from '@oclif/core'
import {flagGroups} from '../../src/cli/flag-groups.js'
import {SvcCommandHelp} from '../../src/cli/help.js'
import {projectFile} from '../support/project.js'
import {manualPages} from './manual-pages.js'

describe('the manual', () => {
  it('in man/ is up to date (npm run man regenerates it)', async () => {
    const pages = await manualPages()
    assert.deepEqual((await readdir(projectFile('man'))).sort(), pages.map(({file}) => file).sort())
    for (const {file, text} of pages)
      assert.ok((await readFile(projectFile(`man/${file}`), 'utf8')) === text, `man/${file} is stale: npm run man`)
  })

  it('is listed in package.json, so that npm installs all pages', async () => {
    const {man} = JSON.parse(await readFile(projectFile('package.json'), 'utf8'))
    assert.deepEqual(man, (await readdir(projectFile('man'))).map((file) => `man/${file}`).sort())
  })

  it('shows the arguments and the headings of flags of every command as --help does', async () => {
    const config = await Config.load({root: projectFile('.'), userPlugins: false})
    const pages = new Map((await manualPages()).map(({file, text}) => [file, text.replaceAll(/\\f[IR]/g, '')]))
    const compared = new Set<string>()
    for (const command of config.commands) {
      const page = pages.get(`svc-${command.id.replaceAll(':', '-')}.1`)
      if (page === undefined) continue
      const help = new SvcCommandHelp(command, config, {maxWidth: 10_000, stripAnsi: true}).generate()
      const [, usage] = /^ {2}\$ svc (.*?)(?: --\S+ \S+)* \[FLAGS\]$/m.exec(help) ?? []
      const [, synopsis = ''] = /\n\.SH SYNOPSIS\n\.B svc .*\n(.*) ?\[FLAGS\]\n/.exec(page) ?? []
      assert.equal(`${command.id} ${synopsis}`.trim(), usage)
      const headings = [...help.matchAll(/^(.*FLAGS)$/gm)].map(([, heading]) => heading?.replace('GLOBAL', 'COMMON'))
      assert.deepEqual(
        [...page.matchAll(/^\.SH (.*FLAGS)$/gm)].map(([, heading]) => heading),
        headings,
      )
      compared.add(command.id)
    }
    assert.equal(compared.size, pages.size - 1)
  })

  it('has headings for the flags of every command with more than 15, after its examples', async () => {
    const {commands} = await Config.load({root: projectFile('.'), userPlugins: false})
    const pages = new Map((await manualPages()).map(({file, text}) => [file, text]))
    for (const {id, flags, hidden} of commands) {
      const page = pages.get(`svc-${id.replaceAll(':', '-')}.1`)
      const shown = Object.values(flags).filter((flag) => !flag.hidden)
      if (hidden || page === undefined || shown.length <= 15) continue
      const own = flagGroups(shown).filter(([heading]) => heading !== 'GLOBAL')
      assert.ok(own.length > 1, `svc ${id} has ${shown.length} flags below one heading; use inGroup`)
      const headings = [...page.matchAll(/^\.SH (EXAMPLES|.*FLAGS)$/gm)].map(([, heading]) => heading)
      assert.equal(headings[0], 'EXAMPLES', `svc ${id} needs examples`)
      for (const [heading] of own)
        if (heading !== '') assert.ok(headings.includes(`${heading.toUpperCase()} FLAGS`), `${id}: ${heading}`)
    }
  })

  it('has no heading with more than 16 flags', async () => {
    const {commands} = await Config.load({root: projectFile('.'), userPlugins: false})
    for (const {id, flags, hidden} of commands) {
      const shown = Object.values(flags).filter((flag) => !flag.hidden)
      for (const [heading, {length}] of flagGroups(shown))
        assert.ok(hidden || length <= 16, `svc ${id} has ${length} flags below ${heading} FLAGS; use inGroup`)
    }
  })

  it('contains commands, flags and variables', async () => {
    const pages = new Map((await manualPages()).map(({file, text}) => [file, text.replaceAll('\\-', '-')]))
    assert.match(pages.get('svc.1') ?? '', /svc config show/)
    assert.match(pages.get('svc.1') ?? '', /SVC_INFERENCE_URL/)
    assert.match(pages.get('svc-generate.1') ?? '', /--max-tokens/)
    assert.doesNotMatch([...pages.values()].join(''), /undefined|<%/)
  })
})
