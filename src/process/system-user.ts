import {SvcError} from '../errors/index.js'

/** Numeric ids of a user of this system. */
export interface UserIds {
  uid: number
  gid: number
}

const known = new Map<string, Promise<UserIds>>()

/**
 * The ids of a user, by name or number. Node.js cannot look them up, so `id` is run, once per user.
 * @throws exec_user_unusable
 */
export function userIds(user: string): Promise<UserIds> {
  const found = known.get(user) ?? lookUp(user)
  known.set(user, found)
  found.catch(() => known.delete(user))
  return found
}

async function lookUp(user: string): Promise<UserIds> {
  if (process.getuid === undefined) throw unusable(user, 'this system has no such users')
  const {execa} = await import('execa')
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => {
      const {stdout, failed} = await execa('id', [flag, user], {reject: false})
      return failed || !/^\d+$/.test(stdout) ? undefined : Number(stdout)
    }),
  )
  if (uid === undefined || gid === undefined) throw unusable(user, 'this system has no user of this name')
  if (process.getuid() !== 0 && process.getuid() !== uid)
    throw unusable(user, 'only root can run programs as another user')
  return {uid, gid}
}

const unusable = (user: string, reason: string) => new SvcError('exec_user_unusable', {user, reason})
