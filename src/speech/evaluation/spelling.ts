/** Converts British to American spelling, so that neither counts as an error: rules with exceptions, then a list. */
export function americanSpelling(word: string): string {
  const listed = irregular.get(word)
  if (listed !== undefined) return listed
  return rules.reduce((current, rule) => rule(current), word)
}

const set = (words: string) => new Set(words.split(' '))

/** Stems of words in -our. */
const ourStems = set(
  'arb ard arm behavi belab cand clam clang col demean discol disfav dishon enam endeav fav ferv flav glam harb ' +
    'hon hum lab mal misbehavi misdemean multicol neighb od outcol parl ranc rig rum sav savi splend succ ' +
    'technicol tricol tum unfav unsav val vap vig watercol',
)

/** Stems of words that end in -ise in American English too. */
const iseStems = set(
  'adv advert an anomal appr appra appre ar bra bru cerc cha chast chem circumc compr comprom conc counterpo cr ' +
    'cru dec dem desp dev disenfranch disgu disp enfranch enterpr equipo exc exerc expert fra franch fundra gu ha ' +
    'hard highr imprec improv inc ir ka la lia lou m mala mant mayonna merchand mispr moonr mort no overexerc pa ' +
    'parad pelv pen perc pha pho po polona porpo pr pra pre prec prem prom ra repr rev sidew sunr superv surm ' +
    'surpr tel telev tort torto trav treat turquo unpract unprom upr upra va val vo',
)

/** Stems that double the l in British English before -ed, -ing and -er. */
const llStems = set(
  'backpeda bedevi bejewe beve cance caro cavi channe chise counci counse crue cudge dia disembowe disheve ' +
    'drive due ename equa fue funne gambo grave grove grue impane imperi initia jewe kenne labe leve libe marsha ' +
    'marshe marve mode pane parce peda penci perio pistole pumme quarre rave refue remode reve riva rowe shove ' +
    'shrive signa snive snorke spira squirre stenci swive tasse tinse tota towe trai tramme trave tria trowe ' +
    'tunne unequa unrava unrave unriva untramme victua wea wease weave yode',
)

/** Prefixes with ae or oe that have e in American English. */
const ligatures = set(
  'aeon aesthe aetio anaem anaesth archaeol bougainvillae caesar chimaer diarrhoe edoem encyclopaed faec foet ' +
    'gonorrhoe gynaecol haemat haemo haemog haemoph haemor homoeop hypoglycaem leukaem mediaev oesoph oestrog ' +
    'orthopaed paederas paediat paedoph palaeo septicaem toxaem',
)

const inOur = new RegExp(
  '^(.+)our(s|ed|ings?|ers?|ful|fully|some|less|abl[ey]|ites?|itism|al|ally|ism|ists?|ants?|y|ies|hoods?|liness|ly|' +
    'ized?|izes|izing)?$',
)

const inRe = new RegExp(
  '^((?:centi|kilo|milli|micro)?(?:cent|lit|met|mit|fib|theat|amphitheat|calib|epicent|goit|lacklust|louv|lust|meag|' +
    'philt|sab|saltpet|scept|sepulch|somb|spect|och|reconnoit))re(s|folds?|pieces?|glass|goers?|d)?$',
)

type Rule = (word: string) => string

const rules: readonly Rule[] = [
  // colour, colours, colouring; an armoury is an armory.
  (word) => word.replace(inOur, (all, stem, end = '') => (ourStems.has(stem) ? `${stem}or${end}` : all)),
  // organise, organising, organisation, organiser.
  (word) =>
    word.replace(/^(.{2,})is(e|ed|es|er|ers|ing|ingly|ation|ations|ational|able)$/, (all, stem, end) =>
      stem.endsWith('w') || iseStems.has(stem.replace(/^(?:re|un|dis|over)(?=.{2})/, '')) || iseStems.has(stem)
        ? all
        : `${stem}iz${end}`,
    ),
  // analyse, paralysing.
  (word) => word.replace(/^(.*(?:anal|breathal|paral|catal|dial|electrol|hydrol))ys(e|ed|es|er|ers|ing)$/, '$1yz$2'),
  // travelled, cancelling, jeweller.
  (word) =>
    word.replace(/^(.+)ll(ed|ing|ings|ingly|er|ers|ery|or|ors|est|ous|ously|ist|ists)$/, (all, stem, end) =>
      llStems.has(stem) ? `${stem}l${end}` : all,
    ),
  // centre, kilometres, fibreglass.
  (word) => word.replace(inRe, (_, stem, end = '') => `${stem}er${end === 'd' ? 'ed' : end}`),
  (word) =>
    word
      .replace(/^(anal|catal|dial|epil|monol|prol|travel)ogue(s?)$/, '$1og$2')
      .replace(/^(catal)ogu(ed|ing)$/, '$1og$2'),
  (word) => word.replace(/^(def|off|pret|lic)enc(e|es|ed|ing|eless)$/, '$1ens$2'),
  (word) => {
    const start = [...ligatures].find((stem) => word.startsWith(stem))
    return start === undefined ? word : start.replace(/[ao]e/, 'e') + word.slice(start.length)
  },
  // fulfil, enrolment.
  (word) => word.replace(/^(appa|disti|enro|enthra|fulfi|insta|insti)l(s|ment|ments)?$/, '$1ll$2'),
  (word) =>
    word.replace(
      /^(pro|ana|aero|centi|milli|kilo|hecto)?gramme(s|d)?$/,
      (_, stem = '', end = '') => `${stem}gram${end === 'd' ? 'med' : end}`,
    ),
  (word) => word.replace(/manoeuvre?(d?)/, (_, end) => `maneuver${end === 'd' ? 'ed' : ''}`),
  (word) => beginnings.reduce((current, [british, american]) => current.replace(british, american), word),
]

/** Prefixes of word families, British and American. */
const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^aeroplane/, 'airplane'],
  [/^artefact/, 'artifact'],
  [/^baulk/, 'balk'],
  [/^behov/, 'behoov'],
  [/^callip/, 'calip'],
  [/^chequer/, 'checker'],
  [/^cheque/, 'check'],
  [/^cos(?=y$|ie|ily|iness)/, 'coz'],
  [/^draught/, 'draft'],
  [/^gaol/, 'jail'],
  [/^grey(?!hound)/, 'gray'],
  [/^(in|con)flexion/, '$1flection'],
  [/^judgement/, 'judgment'],
  [/^kerb/, 'curb'],
  [/^(s|re)?mou(?=l[dt])/, '$1mo'],
  [/^moustach/, 'mustach'],
  [/^omelette/, 'omelet'],
  [/^(snow)?plough/, '$1plow'],
  [/^pyjama/, 'pajama'],
  [/^sceptic/, 'skeptic'],
  [/^(skil|wil)ful/, '$1lful'],
  [/^sulph/, 'sulf'],
  [/^syphon/, 'siphon'],
  [/^tranquill(?=i)/, 'tranquil'],
  [/^woollen/, 'woolen'],
  [/^woolly/, 'wooly'],
  [/^worshipp/, 'worship'],
  [/^yogho?urt/, 'yogurt'],
]

/** Other words, also with -s. */
const irregular: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ageing: 'aging',
    almanack: 'almanac',
    aluminium: 'aluminum',
    archaeology: 'archeology',
    bannister: 'banister',
    chilli: 'chili',
    connexion: 'connection',
    cypher: 'cipher',
    disc: 'disk',
    flautist: 'flutist',
    jewellery: 'jewelry',
    likeable: 'likable',
    misspelt: 'misspelled',
    phoney: 'phony',
    practise: 'practice',
    practised: 'practiced',
    practising: 'practicing',
    storey: 'story',
    storeys: 'stories',
    tonne: 'ton',
    tyre: 'tire',
    waggon: 'wagon',
  }).flatMap(([british, american]) => [
    [british, american],
    [`${british}s`, `${american}s`],
  ]),
)
