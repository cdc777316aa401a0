import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {projectFile} from '../support/project.js'

/** General-purpose object-relational mappers and query builders. */
const mappers =
  /^(prisma|@prisma\/.*|typeorm|sequelize|@sequelize\/.*|drizzle-orm|@mikro-orm\/.*|mikro-orm|objection|bookshelf|waterline|knex|kysely|mongoose|@databases\/.*)$/

describe('database access', () => {
  it('uses the data language and bound statements: no dependency is an ORM, and the README explains why', async () => {
    const manifest = JSON.parse(await readFile(projectFile('package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >
    const names = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((key) =>
      Object.keys(manifest[key] ?? {}),
    )
    assert.deepEqual(
      names.filter((name) => mappers.test(name)),
      [],
    )
    assert.match(await readFile(projectFile('README.md'), 'utf8'), /no ORM/i)
  })
})
