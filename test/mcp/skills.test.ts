import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SkillsClient} from '@modelcontextprotocol/client/ext/skills'
import {listSkills, readSkillFile} from '../../src/operations/skills.js'
import {newest} from './modern.js'
import {connect, once, startHttp, workspace} from './support.js'

describe('the skills of the MCP server', {concurrency: 2}, () => {
  const http = once(async (test) => startHttp(test, {cwd: await workspace(test)}))

  for (const revision of [undefined, newest] as const)
    for (const transport of ['stdio', 'http'] as const)
      it(`are listed and read by the official client over ${transport}, revision ${revision ?? 'with a handshake'}`, async (test) => {
        const choices = revision === undefined ? {} : {revision}
        const {client} =
          transport === 'stdio'
            ? await connect(test, {cwd: await workspace(test), ...choices})
            : await (await http()).connect(choices)
        const skills = new SkillsClient(client)
        assert.ok(skills.supported)
        const {skills: listed} = await skills.list()
        assert.deepEqual(
          listed.map(({frontmatter}) => frontmatter.name).filter((name) => /workflow|db$/.test(name)),
          ['svc-db', 'svc-workflow'],
        )
        const {skill} = await skills.get('skill://svc-db/SKILL.md')
        // The client compares size, digest and front matter with the entry.
        const guide = await skills.read(skill)
        assert.match(guide.body ?? '', /^# Serve a database\n/)
        const reference = await skills.read(skill, 'references/db-language.md')
        assert.ok(reference.verified && /^# The data language\n/.test(reference.text ?? ''))
        await assert.rejects(client.readResource({uri: 'skill://svc-db/references/other.md'}), /does not exist/)
        const {resourceTemplates} = await client.listResourceTemplates()
        assert.ok(resourceTemplates.some(({uriTemplate}) => uriTemplate.startsWith('skill://')))
      })

  it('can be read by a client that may only read', async (test) => {
    const env = {SVC_MCP_HTTP_READ_BEARER_TOKEN: 'only-for-reading'}
    const server = await startHttp(test, {cwd: await workspace(test), env})
    const requestInit = {headers: {authorization: 'Bearer only-for-reading'}}
    const {client} = await server.connect({}, {requestInit})
    const skills = new SkillsClient(client)
    const {skill} = await skills.get('skill://svc-orch/SKILL.md')
    assert.match((await skills.read(skill)).body ?? '', /^# Queue and run tasks\n/)
    await assert.rejects(client.readResource({uri: 'svc://tasks'}), /read/)
  })

  it('describe themselves, and link only to files that are served', async () => {
    const skills = await listSkills()
    const files = new Set(skills.flatMap(({resources}) => resources.map(({uri}) => uri)))
    for (const {frontmatter, resources} of skills) {
      assert.match(frontmatter.description, /^Guide to the command svc: [^.]+\. .{40,900}[.:]$/)
      assert.doesNotMatch(frontmatter.description, /\]\(/)
      for (const {uri} of resources) {
        const {text} = await readSkillFile(uri)
        const links = [...text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)].map(
          ([, to]) => to ?? '',
        )
        for (const to of links) assert.ok(/^https?:/.test(to) || files.has(to), `${uri}: ${to}`)
      }
    }
    const {text} = await readSkillFile('skill://svc-workflow/SKILL.md')
    assert.match(text, /\[task\]\(skill:\/\/svc-orch\/SKILL\.md\)/)
  })
})
