import assert from 'node:assert/strict'
import {readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import type {DashboardReadyV1} from '../../src/contracts/index.js'
import {assertFits, orchWorkspace} from '../support/orch-workspace.js'

describe('svc dashboard', () => {
  it('prints a URL with a key that stays the same, and exits with status 0 when stopped', async (t) => {
    const {cwd, start} = await orchWorkspace(t, '')
    const first = start(['dashboard', '--port', '0', '--json'])
    const ready = JSON.parse(await first.line(1)) as DashboardReadyV1
    await assertFits('cli/dashboard-ready.v1', ready)
    assert.match(ready.page_url, /^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{24}$/)
    const page = await fetch(ready.page_url)
    const key = new URL(ready.page_url).hash.slice('#token='.length)
    assert.equal(page.status, 200)
    assert.ok(!(await page.text()).includes(key))
    assert.equal(await first.end('SIGTERM'), 0)
    assert.ok(!first.stderr().includes(key))
    const path = join(cwd, '.svc', 'dashboard.key')
    assert.equal((await readFile(path, 'utf8')).trim(), key)
    assert.equal((await stat(path)).mode & 0o777, 0o600)

    const second = start(['dashboard', '--port', '0', '--quiet'])
    assert.equal(new URL(await second.line(1)).hash, `#token=${key}`)
    assert.equal(await second.end('SIGINT'), 0)
    assert.equal(second.stderr(), '')
  })

  it('listens only on loopback addresses', async (t) => {
    const {fails} = await orchWorkspace(t, '')
    for (const host of ['0.0.0.0', '192.0.2.1', 'desk.example'])
      await fails(['dashboard', '--host', host], 2, 'flag_value')
  })
})
