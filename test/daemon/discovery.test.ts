import assert from 'node:assert/strict'
import {cp, readFile, rename, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {discoveryPath} from '../../src/daemon/discovery.js'
import {type Discovery, findDaemon, publish} from '../../src/daemon/index.js'
import {temporaryFolder} from '../support/temporary.js'

const facts = {addr: '127.0.0.1:9745', protocol: '1', repository_id: 'abc', started_at_ms: 1}

const readFacts = async (root: string) => JSON.parse(await readFile(discoveryPath(root), 'utf8')) as Discovery

describe('discovery file', () => {
  it('identifies its process until it is removed', async (test) => {
    const root = await temporaryFolder(test)
    const publication = publish(root, facts)
    assert.deepEqual(findDaemon(root), {...findDaemon(root), ...facts, pid: process.pid})
    publication.ending()
    const {addr, ending} = findDaemon(root) ?? {}
    assert.deepEqual([addr, ending], [null, true])
    publication.remove()
    assert.equal(findDaemon(root), undefined)
  })

  it('stays when the workspace is renamed, and does not apply to a copy of it', async (test) => {
    const folder = await temporaryFolder(test)
    const [root, renamed, copy] = ['a', 'b', 'c'].map((name) => join(folder, name)) as [string, string, string]
    publish(root, facts)
    await rename(root, renamed)
    assert.equal(findDaemon(renamed)?.pid, process.pid)
    await cp(renamed, copy, {recursive: true})
    assert.equal(findDaemon(copy), undefined)
  })

  it('of another daemon is not changed or removed', async (test) => {
    const root = await temporaryFolder(test)
    const publication = publish(root, facts)
    const other = {...(await readFacts(root)), process_start: 'another', addr: '127.0.0.1:1'}
    await writeFile(discoveryPath(root), JSON.stringify(other))
    publication.ending()
    publication.remove()
    assert.deepEqual(await readFacts(root), other)
  })
})
