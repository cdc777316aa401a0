import {describe} from 'node:test'
import {skipWithoutPostgres} from '../../support/postgres.js'
import {meshStoreConformance} from './conformance.js'
import {openInDatabases} from './postgres/open-store.js'

describe('PostgreSQL mesh store', {skip: skipWithoutPostgres}, () => meshStoreConformance(openInDatabases()))
