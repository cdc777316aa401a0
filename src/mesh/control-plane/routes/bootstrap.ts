import {readExchange} from '../../protocol/read/admin-body.js'
import {exchangeBootstrap} from '../auth/bootstrap.js'
import type {Handlers} from '../route.js'

/** How a new node comes to a token. */
export const bootstrapRoutes: Handlers = {
  async bootstrap_exchange({body, caller}, {credentials, store, scope, grants}) {
    // The header says it all; a body is for those who want to say it twice.
    const {bootstrap_token: bootstrapToken} = readExchange(body === undefined ? {} : body)
    return JSON.stringify(await exchangeBootstrap(credentials, caller, {bootstrapToken}, {store, scope, grants}))
  },
}
