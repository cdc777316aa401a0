import type pg from 'pg'

/** Opens a connection of its own, independently of the code of the store. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const {default: driver} = await import('pg')
  const client = new driver.Client({connectionString: url, types: {getTypeParser: typeParser(driver)}})
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Reads 64-bit integers as numbers. */
const typeParser = ({types}: typeof pg) =>
  ((oid: number, format: 'text') =>
    oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser
