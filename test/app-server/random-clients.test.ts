import {it} from 'node:test'
import {compareClients} from './random-clients.js'

const programs = 2

it(`${programs} random programs: the document, both clients and the server agree`, (t) =>
  compareClients(t, programs, 1))
