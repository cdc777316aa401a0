import {it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {compareClients} from './random-clients.js'

const programs = 60
const seed = campaignSeed(import.meta.url)

it(`${programs} random programs: the document, both clients and the server agree`, (t) =>
  compareClients(t, programs, seed))
