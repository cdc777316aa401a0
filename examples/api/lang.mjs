// Checks a program of the data language, opens it over a database in memory and calls its endpoints:
// node examples/api/lang.mjs
import {openProgram} from 'svc-toolkit/lang'

const notes = await openProgram(`
@table type Note { text: str }
@endpoint(kind: mutation) fn add(text: str) to Id[Note] { return db.Note.insert({ text: text }) }
@endpoint(kind: query) fn all() to List[Note] { return db.Note.all() }
`)
await notes.call('add', {text: 'Buy tea'})
process.stdout.write(`${JSON.stringify(await notes.call('all'))}\n`)
notes.close()
