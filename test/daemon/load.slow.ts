import {describeEventBacklog} from './support/event-backlog.js'
import {describeRequestLoad} from './support/request-load.js'

describeRequestLoad({ofOne: 2000, clients: 100, ofEach: 20, ofBusy: 6000})
describeEventBacklog({past: 2000, count: 4000, length: 20_000})
