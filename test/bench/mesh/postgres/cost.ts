import type pg from 'pg'
import type {Server} from '../servers.js'
import {databaseMs} from './servers.js'

/** Size of a page in the write-ahead log, bytes. */
export const pageBytes = 8192

interface Database {
  pool: pg.Pool
}

/** Processor time of control planes and database server, ms; bytes of records in the write-ahead log, and of pages in it. */
const resources = ['control', 'database', 'records', 'images'] as const
export type Cost = Record<(typeof resources)[number], number>

export const costOf = (each: (resource: keyof Cost) => number): Cost =>
  Object.fromEntries(resources.map((resource) => [resource, each(resource)])) as Cost

export const number = async ({pool}: Database, sql: string) =>
  Number((await pool.query<{n: string}>(`SELECT ${sql} AS n`)).rows[0]?.n)

export async function spent(mesh: Database, servers: readonly Server[]) {
  return {
    lsn: await number(mesh, "pg_current_wal_flush_lsn() - '0/0'"),
    control: servers.reduce((sum, server) => sum + server.processorMs(), 0),
    database: databaseMs(),
  }
}

type Spent = Awaited<ReturnType<typeof spent>>

export async function difference(mesh: Database, before: Spent, after: Spent): Promise<Cost> {
  const images = await number(
    mesh,
    `(SELECT sum(fpi_size) FROM pg_get_wal_stats('0/0'::pg_lsn + ${before.lsn}, '0/0'::pg_lsn + ${after.lsn}))`,
  )
  const {control, database, lsn} = after
  return {
    control: control - before.control,
    database: database - before.database,
    records: lsn - before.lsn - images,
    images,
  }
}

export const walOf = ({records, images}: Cost) => Math.round(records + images)
