import assert from 'node:assert/strict'
import {chmod} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {findOverlays} from '../../../src/mesh/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

describe('findOverlays', () => {
  it('finds networks with a program or an interface', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFiles(folder, {tailscale: '#!/bin/sh\ntouch "$0.run"\n', 'zerotier-cli': ''})
    await chmod(join(folder, 'tailscale'), 0o755)
    await chmod(join(folder, 'zerotier-cli'), 0o644)
    const interfaces = {lo: [{address: '127.0.0.1'}], wg0: [{address: '10.9.0.2'}], zt7nn: []}
    assert.deepEqual(await findOverlays({PATH: `/nowhere:${folder}`}, interfaces), [
      {provider: 'tailscale', available: true, connected: false, detail: join(folder, 'tailscale')},
      {provider: 'wireguard', available: false, connected: true, detail: 'wg0 10.9.0.2'},
    ])
  })

  it('is empty without any', async () => {
    assert.deepEqual(await findOverlays({}, {eth0: [{address: '192.0.2.7'}]}), [])
  })
})
