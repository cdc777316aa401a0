import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {workspaceNames as namesOf} from '../../src/lang/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const program = `
@table type Book { title: str, shelf_mark: str }
type Shelf { label: str }
type Genre = | Novel | Essay
@endpoint(kind: query) fn find_book(title: str) to List[Book] { return db.Book.all() }
fn helper() to int { return 1 }
@test fn checks_nothing() { }
http get "/books" to int { return 1 }
`

/** Fails if something cannot be read. */
const workspaceNames = (folder: string) =>
  namesOf(folder, (path, error) => {
    throw new Error(path, {cause: error})
  })

describe('the names of a workspace', () => {
  it('are those that its programs declare, of outer folders first', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {'src/deep/books.svc': program, 'main.svc': 'fn main_menu() to int { return 1 }'})
    assert.deepEqual(await workspaceNames(folder), [
      'main_menu',
      'Book',
      'Shelf',
      'Genre',
      'find_book',
      'helper',
      'title',
      'shelf_mark',
      'label',
      'Novel',
      'Essay',
    ])
  })

  it('include those of a program with errors, and none of tools and copies', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {
      'broken.svc': '@table type Draft { body: str }\nfn ???',
      'note.txt': 'fn text() to int { return 1 }',
      'node_modules/a.svc': 'fn installed() to int { return 1 }',
      '.svc/b.svc': 'fn hidden() to int { return 1 }',
    })
    assert.deepEqual(await workspaceNames(folder), ['Draft', 'body'])
  })

  it('are limited to a number of programs and of bytes', async (test) => {
    const folder = await temporaryFolder(test)
    const programs = Array.from({length: 70}, (_, i) => [`p${i}.svc`, `fn name${i}() to int { return 1 }`])
    await writeFiles(folder, Object.fromEntries(programs))
    assert.equal((await workspaceNames(folder)).length, 64)
    await writeFiles(folder, {'0.svc': `// ${'x'.repeat(1 << 20)}\n`})
    assert.deepEqual(await workspaceNames(folder), [])
  })

  it('are empty without the folder', async (test) => {
    const folder = `${await temporaryFolder(test)}/absent`
    const unreadable: string[] = []
    assert.deepEqual(await namesOf(folder, (path) => unreadable.push(path)), [])
    assert.deepEqual(unreadable, [folder])
  })
})
