"""Sentences of everyday and technical English, made from templates, and the text that a model is to write for them."""

import random
import re

# Words for the slots of the templates, separated by blanks; a word of several parts is joined by underscores.
WORDS = {
    "name": """anna ben carla david emma frank grace henry irene jack karen liam maria noah olivia peter rachel sam tina
        victor wendy alice bob carol dennis ellen george hannah ian julia kevin laura martin nina oscar paula robert
        sarah thomas susan michael james linda william elizabeth the_teacher the_doctor the_nurse the_neighbour
        my_brother my_sister my_mother my_father our_uncle her_aunt his_cousin the_manager the_driver the_engineer
        the_student the_farmer the_captain the_waiter the_lawyer the_gardener the_librarian everybody somebody nobody
        the_old_man the_young_woman the_little_boy the_girl a_friend the_visitor the_customer the_guest""",
    "person": """anna ben carla david emma frank grace henry irene jack karen liam maria noah olivia peter rachel sam
        tina victor wendy alice george hannah laura martin robert sarah thomas my_brother my_sister the_teacher
        the_doctor the_manager the_engineer the_neighbours her_parents his_friends the_children""",
    "place": """kitchen garden library station office market harbour school hospital museum river village city bridge
        mountain beach forest park airport hotel restaurant bakery church theatre castle island valley lake street
        square factory farm garage cellar attic bedroom bathroom hallway balcony playground stadium university
        laboratory workshop warehouse post_office supermarket train_station town_hall swimming_pool court bank shop
        corner field hill coast border northern_coast old_town front_door main_road""",
    "thing": """book letter chair table window door lamp cup bottle key phone computer camera clock mirror picture
        bicycle basket blanket box bag coat hat shoe ring knife spoon fork plate bowl pan candle umbrella guitar piano
        drum ball map ticket newspaper magazine pencil pen paper envelope stamp coin wallet watch bell ladder hammer
        nail rope saw bucket broom brush towel soap pillow carpet curtain shelf drawer suitcase radio television
        machine engine wheel boat ship train bus car truck plane house wall roof floor ceiling gate fence stone tree
        flower leaf branch seed apple orange lemon""",
    "food": """bread butter cheese milk coffee tea water juice soup rice pasta chicken fish beef salad apples oranges
        bananas cherries grapes strawberries potatoes tomatoes onions carrots beans mushrooms eggs sugar salt pepper
        honey chocolate cake pie biscuits pancakes sandwiches yoghurt cereal nuts garlic ginger vegetables fruit""",
    "animal": """dog cat horse cow sheep goat pig rabbit mouse bird eagle owl duck goose chicken fish whale dolphin
        shark elephant lion tiger bear wolf fox deer monkey snake turtle frog spider bee butterfly ant beetle""",
    "adjective": """big small old new young long short high low warm cold hot dry wet clean dirty heavy light dark
        bright loud quiet fast slow hard soft rich poor strong weak happy sad angry kind brave clever simple strange
        beautiful ugly empty full open cheap expensive early late deep wide narrow round square sharp smooth rough
        sweet bitter fresh broken busy lazy careful dangerous famous gentle hungry important interesting modern
        natural nervous patient perfect polite proud quick ready serious silent tired useful wonderful yellow green
        blue red white black brown grey purple pink golden silver wooden wonderful terrible ordinary special""",
    "went": """walked drove ran went hurried travelled came returned moved cycled rode wandered sailed flew""",
    "did": """bought sold found lost broke repaired cleaned painted opened closed carried dropped forgot remembered
        wanted needed liked loved hated borrowed returned hid moved pushed pulled threw caught noticed described drew
        photographed measured counted ordered wrapped washed kept stole replaced showed saw mentioned left took
        brought built made held lifted covered touched tried examined chose""",
    "said": """said thought believed knew hoped heard explained promised insisted noticed understood remembered
        suggested admitted decided agreed felt dreamed wrote shouted whispered answered replied complained""",
    "verb": """buy sell find lose break repair clean paint open close carry drop forget remember want need like love
        borrow return hide move push pull throw catch describe draw measure count order wash keep replace show see
        leave take bring build make hold lift cover touch try choose use check send read write watch hear""",
    "gerund": """reading writing cooking swimming running dancing singing painting sleeping working waiting talking
        listening walking driving shopping cleaning playing fishing climbing skating sailing learning teaching
        travelling thinking building planning gardening knitting drawing laughing crying smiling""",
    "time": """today tomorrow yesterday now later soon tonight this_morning this_afternoon this_evening last_night
        last_week last_month last_year next_week next_month next_year on_monday on_tuesday on_wednesday on_thursday
        on_friday on_saturday on_sunday in_january in_february in_march in_april in_may in_june in_july in_august
        in_september in_october in_november in_december at_noon at_midnight after_lunch before_dinner
        in_the_morning at_night during_the_summer in_the_winter every_day every_week once_a_year again already
        for_an_hour for_three_days a_long_time_ago at_the_weekend in_spring in_autumn after_the_meeting""",
    "adverb": """quickly slowly quietly carefully suddenly finally usually often sometimes always never really nearly
        almost probably certainly perhaps together alone gladly easily hardly exactly completely immediately
        carelessly happily sadly secretly simply regularly rarely recently originally obviously fortunately""",
    "preposition": """in near behind beside above below under outside inside next_to in_front_of across_from beyond
        around opposite""",
    "number": """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety twenty_one thirty_two
        forty_three fifty_four sixty_five seventy_six eighty_seven ninety_eight one_hundred two_hundred
        three_hundred five_hundred one_thousand ten_thousand""",
    "digit": """zero one two three four five six seven eight nine""",
    "plural": """books letters chairs tables windows doors lamps cups bottles keys phones computers cameras clocks
        pictures bicycles boxes bags coats shoes knives spoons plates tickets newspapers pencils coins bells ropes
        boats ships trains cars houses walls stones trees flowers leaves apples people children women men students
        friends families words questions answers problems ideas stories songs games rules minutes hours days weeks
        months years miles metres pounds dollars pages numbers lines pieces colours birds horses""",
    "weather": """rain snow wind sunshine fog thunder lightning frost hail storms clouds showers""",
    "tech": """server client file folder network database model computer program process thread queue token key
        password keyboard screen window mouse printer memory disk cache buffer packet router cable sensor robot
        battery processor core kernel driver compiler debugger terminal shell script function method class object
        array string integer pointer table index record column row query schema version branch commit release patch
        package library module interface protocol socket port address domain browser page link cookie session
        request response header body message event signal error warning log report chart graph vector matrix tensor
        layer network weight gradient adapter tokenizer prompt transcript recording microphone speaker headset
        channel stream frame sample backup snapshot cluster node worker task job schedule deadline budget policy
        test benchmark manual document example tutorial account user administrator image container volume pipeline
        endpoint gateway firewall certificate signature checksum""",
    "techs": """servers clients files folders networks databases models computers programs processes threads tokens
        keys passwords screens buffers packets cables sensors robots batteries drivers scripts functions objects
        strings tables records columns rows queries versions branches commits packages libraries modules sockets
        ports addresses pages links sessions requests responses messages events errors warnings logs reports vectors
        layers weights adapters prompts transcripts recordings microphones channels streams frames samples backups
        nodes workers tasks jobs tests users images containers endpoints certificates tools settings commands""",
    "techverb": """start stop restart install remove update download upload copy delete rename open close read write
        load save compile build test run debug check configure connect disconnect encrypt compress extract search
        sort filter merge split deploy monitor measure record transcribe translate train serve call return print
        schedule cancel retry validate parse format refresh synchronise export import inspect archive restore""",
    "techdid": """started stopped restarted installed removed updated downloaded copied deleted renamed opened closed
        loaded saved compiled built tested ran checked configured connected encrypted compressed extracted searched
        sorted filtered merged split deployed monitored measured recorded transcribed translated trained served
        called returned printed scheduled cancelled validated parsed formatted refreshed exported imported inspected
        restored rejected accepted received blocked ignored duplicated""",
    "techadj": """local remote slow fast empty full broken missing invalid valid secure private public temporary
        permanent default custom current previous next first last new old large small wrong correct unknown final
        shared hidden active idle busy pending failed successful automatic manual parallel serial random main quiet
        strict optional required verbose simple complex partial complete internal external physical virtual""",
    "state": """is_ready is_running has_failed has_stopped is_full is_empty is_missing works_well is_too_slow is_busy
        needs_an_update has_been_deleted was_not_found is_out_of_date cannot_be_opened does_not_respond is_waiting
        has_been_moved is_up_to_date looks_good is_almost_finished takes_too_long is_not_allowed is_disabled
        has_changed is_locked is_damaged must_be_signed ends_without_a_warning uses_a_lot_of_memory""",
    "feeling": """happy tired hungry thirsty angry afraid surprised worried excited lonely proud bored cold ill
        confident grateful jealous nervous relaxed curious disappointed delighted ashamed""",
    "because": """because_it_was_raining because_the_road_was_closed since_nobody_answered although_it_was_late
        when_the_sun_went_down before_anyone_noticed after_the_guests_had_left while_the_others_were_sleeping
        until_the_phone_rang so_that_everyone_could_see as_soon_as_possible if_there_is_enough_time
        unless_something_goes_wrong even_though_it_was_cold without_saying_a_word with_a_smile in_a_hurry
        by_mistake on_purpose for_the_first_time at_the_last_moment just_in_time without_any_help""",
}

# Words of everyday and technical English that stand in rows: what a word sounds like matters more than where it stands.
COMMON = """a ability able about above abroad absence accept access accident according account achieve across act action
    active actor actual add address admit adult advance advantage adventure advice affair afford afternoon afterwards
    against age agent ago agree ahead aim air alarm alive all allow almost along aloud alphabet already although always
    amazing ambition ambulance among amount amuse ancient and anger angle announce annoy another answer anxious any
    anybody anyone anything anyway anywhere apart apologise appear appetite apply appoint approach approve area argue arm
    army around arrange arrest arrive arrow art article artist as aside ask asleep assist at atom attach attack attempt
    attend attitude attract audience author authority autumn available average avoid awake award aware away awful axe
    baby back backwards bad balance bandage bar bare bargain bark barrel base basic bath bathe battle be beard beat beauty
    because become bed beer before beg begin behave being belief belong belt bench bend benefit berry beside best bet
    beyond bill birth birthday bit bite blade blame blank bleed bless blind block blood blow boast body boil bold bone
    border bored born borrow boss both bother bottom bound boundary bow brain brake brass brave breakfast breath breathe
    breeze brick bride brief brilliant brother brush build bullet bunch burn burst bury bush business but button by cage
    call calm camp can cancel cannot cap capital captain care career cart carve case cash cast cause cave celebrate cell
    central century certain chain chalk chance change chapter character charge charm chase chat cheap cheat cheek cheer
    chemical chest chew chief child chimney chin choice circle citizen civil claim clap class claw clay clear clerk
    climate climb cloth clothes cloud club coal coast code coin collar collect college comb combine come comfort command
    committee common companion company compare compete complain complete complicated compose concern concert condition
    conference confuse congratulate connection conscience consider contain content contest continue contract control
    convenient conversation cook cool corn cost cottage cotton cough could council country couple courage course cousin
    cow crack crash crazy cream create creature credit crime crisp criticise crop cross crowd crown cruel crush cry cup
    cupboard cure curious current curse curve custom cut damage damp dance danger dare daughter day dead deaf deal dear
    death debt decay decide declare decorate decrease defeat defend degree delay delicate deliver demand dentist deny
    depend depth describe desert deserve desire desk destroy detail determine develop devil diamond dictionary die
    difference different difficult dig dine direction dirt disappear discover discuss disease dish distance divide do does
    dollar donkey double doubt down dozen drag drawing dream dress drink drive drown dull during dust duty each eager ear
    earn earth ease east eat edge education effect effort egg eight either elastic elbow elder elect electric electricity
    else employ enclose encourage end enemy enjoy enough enter entire entrance envy equal escape especially essence even
    event ever evil exact examine excellent except exchange excite excuse exercise exist expect expense experience
    explain explode explore express extra extreme eye face fact fade fail faint fair faith fall false fancy far fare
    fashion fasten fate father fault favour fear feast feather feed feel fellow fence fever few fierce fight figure fill
    film find fine finger finish fire firm first fit fix flag flame flash flat flavour flesh float flood flour flow fluid
    fold follow fond fool foot for forbid force foreign forgive form former fortune forward frame free freedom freeze
    frequent friend frighten from fruit fuel fun funeral fur furniture further future gain gallon game gap gas gather
    general generous gentleman get gift give glad glass glory glue go god gold good goodbye govern grain gram grammar
    grand grandfather grandmother grandson grass grateful grave grease great greedy greet group grow guard guess guide
    guilty gun habit had hair half hall hand handle handkerchief hang happen harbour hardly harm harvest haste hate have
    he head health hear heart heat heaven height help hen her here hers herself hill him himself hire his history hit hole
    holiday hollow holy home honest honour hook hope horizon horn hot hotel hour how however human humble humour hunger
    hunt hurry hurt husband hut ice idea ideal idle if imagine imitate immediate improve in include income increase indeed
    indoors industry influence inform ink inn inquire insect inside instant instead instrument insult insure intend
    interest interfere interrupt into introduce invent invite inward iron is it its itself jaw jewel job join joint joke
    journey joy judge juice jump just justice keep kick kill kilo kind kingdom kiss kitchen knee kneel knife knock knot
    know knowledge lack lady lame land language large last laugh law lawn lay lead leader leaf lean learn least leather
    left leg lend length less lesson let level liar liberty lick lid lie life lift like limb limit line lip liquid list
    literature litre little live load loan local lock log lonely long look loose lord lot loud love lovely low loyal luck
    lump lunch lung mad mail make male man manage mankind manner many march mark market marry master mat match material
    matter may me meal mean measure meat medicine medium meet melt member memory mend mention merchant mercy mere merry
    metal method middle might mild mile military milk mill million mind mine mineral minister minute miss mist mistake mix
    moderate modest moment money month moon moral more moreover most mother motion motor mouth move much mud multiply
    murder muscle music must mystery nail narrow nasty nation nature near neat necessary neck need neglect neighbour
    neither nephew nerve nest net never nevertheless new news next nice niece night no nobody noise none noon nor normal
    north nose not note nothing notice now nowhere nuisance nurse obey object observe occasion ocean of off offend offer
    office officer often oil on once one only onto open operate opinion opportunity oppose or orange order organ origin
    other otherwise ought ounce our out outline over overcome owe own oxygen pack pad pain pair palace pale pardon parent
    parliament part partner party pass passage passenger past paste path patient pattern pause paw pay peace peculiar pen
    people per perform perhaps period permit person persuade pet petrol pick piece pilot pin pinch pink pint pipe pity
    place plain plan plant plaster please plenty plough poem poet point poison pole police polish political pool popular
    position possess possible post pot pound pour powder power practical practice praise pray precious prefer prepare
    presence present preserve president press pressure pretend pretty price prick pride priest prince principle prison
    private prize probable problem produce profession profit progress project promise prompt proof proper property propose
    protect prove provide public pull pump punctual punish pupil puppet pure purple purpose push puzzle quality quantity
    quarrel quarter queen question quite rabbit race rail rain raise range rank rapid rate rather raw ray reach ready real
    reason recent recognise recommend red reduce refer reflect refuse regard region regret relation relative religion
    remain remark remedy remind rent repeat report represent republic request rescue reserve resign resist respect rest
    result retire return revenge review reward ribbon rice rid ripe rise risk rival roar roast rob rock roll root rope
    rotten row royal rub rubber rubbish rude rug ruin rush rust sacred sacrifice saddle safe sail salary sale salesman
    same sample sand satisfy sauce save say scale scatter scene school science scissors scold score scrape scratch screw
    search season seat second secret secretary see seem seize seldom self sell send sense separate serious servant settle
    several severe sew shade shadow shake shall shallow shame shape share shave she sheet shell shelter shield shine shirt
    shock shoot shop shore should shoulder shout shower shut sick side sight sign signal silence silk silly similar simple
    since sincere sing single sink sister sit situation size skill skin skirt sky slave sleep slide slight slip slope slow
    smell smile smoke snow so social society sock soil soldier solemn solid solution solve some somebody someone something
    son soon sore sorrow sorry sort soul sound soup sour south sow space spare speak special speed spell spend spill spin
    spirit spit spite splendid split spoil sport spot spread spring staff stage stain stair stamp stand standard star
    stare station stay steady steam steel steep steer stem step stick stiff still sting stir stitch stock stocking stomach
    stop store storm story straight strap straw stream strengthen stretch strict strike string strip stripe stroke study
    stuff stupid subject substance succeed success such suck suffer sugar suggest suit summer sun supper supply support
    suppose sure surface surround suspect swallow swear sweat sweep swell swing sword sympathy system tail tailor tale
    talk tall tame tap task taste tax taxi teach tear telegraph telephone tell temper temperature temple tempt tend tender
    tent term than thank that the theatre their them then theory there therefore these they thick thief thin think this
    thorn thorough those though thread threat throat through thumb thunder thus tide tie tight till time tin tip title to
    tobacco together tomorrow ton tongue tonight too tool tooth top total towards towel town toy track trade translate
    trap travel treasure treat tremble trial tribe trick trip tropical trouble trousers true trunk trust truth tube tune
    turn twice twist type ugly uncle under understand union unit unite universal universe until up upon upper upright
    upset urge urgent us use usual vain valuable value variety various vegetable veil verse very vessel view violent
    virtue visit voice vote vowel voyage wage waist wake want war warn waste we weak wealth weapon wear weather weave
    weed week weigh weight welcome well west what whatever wheat when where whether which while whip who whole whom whose
    why wicked widow wife wild will win wind wine wing winter wipe wire wisdom wise wish with within without witness
    wonder wood wool work world worm worry worse worship worst worth would wound wrap wreck wrist write wrong yard yellow
    yes yesterday yet yield you your yours yourself youth zero""".split()

# How often each kind of sentence is drawn, and its templates. `{thing}` is one word of that row above.
TEMPLATES = {
    "everyday": (
        5,
        """{name} {went} to the {place} {time}
        {name} {did} the {adjective} {thing} {time}
        {name} {did} a {thing} and a {adjective} {thing}
        {name} {adverb} {did} the {thing} {preposition} the {place}
        the {adjective} {animal} is sleeping {preposition} the {thing}
        there are {number} {plural} {preposition} the {place}
        we need {number} {plural} and some {food}
        would you like some {food} with your {food}
        please {verb} the {thing} and {verb} the {thing}
        please put the {thing} {preposition} the {thing}
        can you {verb} the {adjective} {thing} {time}
        could you tell me where the {place} is
        how do i get to the {place} from here
        how many {plural} did you {verb} {time}
        why did {name} {verb} the {thing} {because}
        what would {name} do with {number} {plural}
        where did you {verb} my {adjective} {thing}
        who {did} the {thing} {preposition} the {place}
        when will {name} {verb} the {thing}
        {name} {said} that the {thing} was {adjective}
        {name} {said} it would be {adjective} {time}
        i {said} that {name} {did} the {thing} {because}
        she {went} to the {place} {because}
        he {did} the {thing} {because}
        they {adverb} {went} across the {place}
        {person} and {person} are {gerund} {time}
        {person} and {person} {went} home {because}
        {gerund} is better than {gerund}
        i have been {gerund} since {number} o'clock
        i am {feeling} and a little {feeling} {time}
        she doesn't want to {verb} the {thing}
        we didn't {verb} the {thing} {time}
        i can't {verb} it without a {thing}
        it's too {adjective} to go {gerund}
        don't forget to {verb} the {food}
        let's meet {preposition} the {place} {time}
        the {weather} stopped {time} and the {place} was {adjective}
        there will be {weather} and {weather} near the {place} {time}
        the {thing} costs {number} dollars and {number} cents
        the train leaves at {number} minutes past {number}
        the {place} is {number} miles from the {place}
        my {thing} is {adjective} but yours is {adjective}
        this {thing} is as {adjective} as that {thing}
        the {adjective} {animal} {did} the {adjective} {animal}
        a {adjective} {animal} and {number} {plural} were {preposition} the {place}
        {food} and {food} taste {adjective} together
        {name} made {food} with {food} and {food}
        {name} was {feeling} {because}
        nobody knows why the {thing} {preposition} the {place} is {adjective}
        it was {adverb} the most {adjective} {thing} of all
        {number} {plural} and {number} {plural} make {number}
        the story is about a {adjective} {animal} who {did} a {thing}
        every {thing} in this {place} is {adjective}
        we will {verb} the {plural} {time} {because}
        if it is {adjective} {time} we will {verb} the {thing}
        thank you for the {adjective} {thing}
        good morning {person} and welcome to the {place}
        good evening everyone
        hello {person} how are you {time}
        hello and welcome to the {adjective} {place}
        nice to meet you {person}
        see you {time} {preposition} the {place}
        i would rather {verb} a {thing} than {verb} a {thing}""",
    ),
    "technical": (
        4,
        """the {tech} {state}
        the {techadj} {tech} {state} and the {tech} {state}
        please {techverb} the {tech} before you {techverb} the {tech}
        {techverb} the {techadj} {tech} and {techverb} the {techs}
        how do i {techverb} a {tech} on the {tech}
        the {tech} {techdid} {number} {techs} in {number} seconds
        the {tech} has {techdid} the {techs} {adverb}
        the {techadj} {tech} was {techdid} by the {tech}
        each {tech} can {techverb} the {techs} of its {tech}
        all {techs} are {techdid} on your own machine
        we {techdid} the {tech} because the {tech} {state}
        if the {tech} {state} then {techverb} the {tech} again
        when the {tech} {state} you can {techverb} the {techadj} {tech}
        there are {number} {techadj} {techs} in the {tech}
        the {tech} needs {number} megabytes of memory
        the {tech} runs on port {digit} {digit} {digit} {digit}
        version {digit} point {digit} of the {tech} {state}
        open the {tech} and type the name of the {tech}
        the {person} {techdid} the {techadj} {tech} {time}
        do not {techverb} the {tech} while the {tech} {state}
        {techverb} {number} {techs} at the same time
        the {tech} and the {tech} share a {techadj} {tech}
        nothing is lost when the {tech} {state}
        show me the {techadj} {techs} of the {tech}
        the {techadj} {tech} writes its {techs} to the {tech}
        this {tech} speaks to a {techadj} {tech} over the network
        the language model answers the question of the {tech}
        the speech model writes down what you say
        transcribe the recording and save the text in a {techadj} {tech}
        {techverb} it once and {techverb} it everywhere
        the {tech} sends a {tech} to every {techadj} {tech}
        create a {techadj} {tech} for the {techs} and {techverb} it
        a {techadj} {tech} is faster than a {techadj} {tech}
        error number {digit} {digit} {digit} means that the {tech} {state}
        the {techs} of the {tech} are {techdid} {time}""",
    ),
    "digits": (
        1,
        """{digit}
        {digit} {digit}
        {digit} {digit} {digit}
        {digit} {digit} {digit} {digit}
        {digit} {digit} {digit} {digit} {digit}
        {digit} {digit} {digit} {digit} {digit} {digit}""",
    ),
}

_CHOICES = {slot: [word.replace("_", " ") for word in words.split()] for slot, words in WORDS.items()}
_KINDS = {kind: [line.strip() for line in lines.splitlines()] for kind, (_, lines) in TEMPLATES.items()}
_WEIGHTS = [weight for weight, _ in TEMPLATES.values()]


def sentence(rng: random.Random, spelling: list[str]) -> str:
    """One sentence; one in four is a row of words, common ones and a few from `spelling`, so that letters are learnt."""
    if rng.random() < 0.25:
        words = [rng.choice(spelling if rng.random() < 0.15 else COMMON) for _ in range(rng.randint(3, 9))]
        return " ".join(_inflected(word, rng) for word in words)
    kind = rng.choices(list(_KINDS), _WEIGHTS)[0]
    return re.sub(r"\{(\w+)\}", lambda slot: rng.choice(_CHOICES[slot[1]]), rng.choice(_KINDS[kind]))


def _inflected(word: str, rng: random.Random) -> str:
    """Now and then with an ending that most words of English can take."""
    if len(word) < 3 or word[-1] in "sxyz" or rng.random() < 0.75:
        return word
    stem = word[:-1] if word[-1] == "e" else word
    return rng.choice([word + "s", stem + "ed", stem + "ing", stem + "er"])


def spelling_words(path: str) -> list[str]:
    """The words of a dictionary that are written with small letters only, of 3 to 10 of them."""
    with open(path, encoding="utf-8") as lines:
        return [word for word in (line.strip() for line in lines) if re.fullmatch(r"[a-z]{3,10}", word)]


def written_words() -> set[str]:
    """All words that stand in this file."""
    slots = [word for words in _CHOICES.values() for word in words]
    texts = [*slots, *COMMON, *(re.sub(r"\{\w+\}", " ", line) for lines in _KINDS.values() for line in lines)]
    return {word for text in texts for word in transcript(text).split()}


def transcript(text: str) -> str:
    """What the model is to write: small letters, apostrophes and single blanks."""
    return " ".join(re.sub(r"[^a-z' ]+", " ", text.lower()).split())
