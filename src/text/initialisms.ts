/**
 * Which words are read letter by letter, and the parts of names written with capitals inside. A short word in capitals
 * is an initialism unless it is an English word or people say it as one; a longer one is a word unless it cannot be
 * said.
 */
import { isDigit, isLetter, spell } from './rule.ts'

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))

/** Initialisms that could be said as words. Those without vowels need no list. */
const spelled = words(
  'USA UK EU UN US UAE API APIS URL URLS URI AI UI UX IDE IDS IP ISP IT OS CEO CFO CTO COO CIA FBI IBM USB CPU ' +
    'GPU TPU NPU RPA GUI CLI IO IOS ISO IEEE IETF AWS ACL EOF ETA FAQ DIY GMO HIV MIT UCLA BBC ABC NBC CBS ESPN IRS ' +
    'IPO EV EVS ER OECD USD EUR AUD CAD ATM DNA RNA MRI ICU ECG EU IOU OCR OEM ORM EOL UFO VIP PM TTS STT ASR LLM ' +
    'SDK UTF UTC UUID SSD HDD RGB ASAP ID IMHO IIRC AFAIK ISBN IUPAC UEFI OAUTH UCSF AOL IMEI IMSI PST',
)
/** Read letter by letter in lower case too. */
const spelledLower = words(
  'api apis url urls uri ui ux ai ide cpu cpus gpu gpus usb ip cli gui sdk idk imo imho irl omg iirc afaik fyi ' +
    'faq faqs diy aka usa uk eu nyc ceo cfo cto dna llm llms atm vip utf xyz ttyl ikr lmao',
)
/** Names with capitals inside that are not said in their parts. */
const saidAs: Readonly<Record<string, string>> = {
  SaaS: 'sass',
  PaaS: 'pass',
  LoRA: 'lora',
  LaTeX: 'lay tech',
  YoY: 'year over year',
  QoQ: 'quarter over quarter',
  Ctrl: 'control',
  Cmd: 'command',
  IPv: 'I P V',
}

export const isSpelledLower = (word: string): boolean => spelledLower.has(word)

/** Sounds without a vowel, however long they last. */
const sound = /^(?:h+m+(?:ph)?|m+|m+h+m+|sh+|p+s+t+|p+f+t+|t+s+k+|b+r+|g+r+|z+|ll|n?th|nd|rd|st|pls|thx|ng)$/i

/** English words and sounds of two and three letters, and acronyms of that length that people say as words. */
const shortWords = words(
  'AAA AH AM AN AS AT AX BE BY DO EH GO HA HE HI HO IF IN IS ME MY NO OF OH OK ON OR OW OX PA SO TO UH UM UP WE ' +
    'WO YA YE YO ACE ACT ADD ADO AGE AGO AHA AID AIL AIM AIR ALE ALL AND ANT ANY APE APP ARC ARE ARK ARM ART ASH ' +
    'ASK ASS ATE AWE AWW AXE BAD BAG BAN BAR BAT BAY BED BEE BEG BET BID BIG BIN BIT BOO BOW BOX BOY BRO BUD BUG ' +
    'BUM BUN BUS BUT BUY BYE CAB CAN CAP CAR CAT COB COD COG COP COT COW COY CRY CUB CUE CUP CUT DAB DAD DAM DAY ' +
    'DEN DEW DID DIE DIG DIM DIP DOC DOE DOG DOT DRY DUB DUE DUG DUO DYE EAR EAT EEL EGG EGO ELF ELK ELM END ERA ' +
    'ERR EVE EYE FAB FAD FAN FAR FAT FAX FED FEE FEW FIG FIN FIT FIX FLU FLY FOE FOG FOR FOX FRY FUN FUR GAB GAG ' +
    'GAL GAP GAS GAY GEL GEM GET GIG GIN GOD GOT GUM GUN GUT GUY GYM HAD HAH HAM HAS HAT HAY HEM HEN HER HEX HEY ' +
    'HID HIM HIP HIS HIT HOE HOG HOP HOT HOW HUB HUE HUG HUH HUM HUT ICE ICY ILL INK INN ION ITS IVY JAB JAM JAR ' +
    'JAW JAY JET JIG JOB JOG JOT JOY JUG KEG KEY KID KIN KIT LAB LAD LAG LAP LAW LAX LAY LEG LET LID LIE LIP LIT ' +
    'LOG LOT LOW MAD MAN MAP MAT MAX MAY MEH MEN MET MIC MID MIX MOB MOM MOP MRS MUD MUG MUM NAG NAH NAP NAY NET ' +
    'NEW NIL NIP NOD NOR NOT NOW NUN NUT OAK OAR OAT ODD OFF OIL OLD ONE OUR OUT OWE OWL OWN PAD PAL PAN PAR PAT ' +
    'PAW PAY PEA PEG PEN PEP PER PET PEW PIE PIG PIN PIT PLY POD POP POT PRO PUB PUN PUP PUT QUO RAG RAN RAP RAT ' +
    'RAW RAY RED REF REP RIB RID RIG RIM RIP ROB ROD ROT ROW RUB RUG RUM RUN RUT RYE SAD SAW SAY SEA SEE SET SEW SEX ' +
    'SHE SHY SIN SIP SIR SIT SIX SKI SKY SLY SOB SOD SON SOY SPA SPY SUB SUE SUM SUN TAB TAD TAG TAN TAP TAR TAX ' +
    'TEA TEE TEN THE THY TIE TIN TIP TOE TON TOO TOP TOW TOY TRY TUB TUG TWO UGH USE VAN VET VIA VOW WAR WAS WAX ' +
    'WAY WEB WED WET WHO WHY WIG WIN WIT WOE WON WOO WOW YAK YAM YAY YEA YEN YEP YES YET YOU YUM YUP ZAP ZEN ZIP ' +
    'ZOO ABE ADA ALI AMY ANA ANN AVA BEN BEA BOB DAN DEB DEE DON ELI EVA GUS HAL IAN IDA JAN JEN JIM JOE JON KAI ' +
    'KAY KEN KIM LEE LEN LEO LES LEX LIZ LOU MAE MEG MEL MIA MOE NED PAM RAE REX RON ROY SAL SAM SID SUE TED TIM ' +
    'TOM VAL VIC ZOE JAN FEB MAR JUN JUL AUG SEP OCT NOV DEC MON TUE THU FRI SAT RAM ROM SIM GIF LAN WAN DOS NAS ' +
    'LOL DOM GNU VIN PAC CAM MAC',
)
/** Said as words although no English word begins or ends like them. */
const saidOtherwise = words('JPEG JPEGS JSON YAML MPEG MNIST CMOS')

/** Consonants that English words begin with, and those that they end with; a single one always can. */
const beginnings = words(
  'bl br ch chr cl cr dr dw fl fr gh gl gn gr kh kl kn kr ph pl pr ps q rh sc sch scr sh shr sk sl sm sn sp sph spl ' +
    'spr sq st str sw th thr tr tw wh wr',
)
const endings = words(
  'bs bt bts ch ck cks cs ct cts dd dds ds dth ff ffs ft fth fts ggs gh ghs ght gn gns gs hn ks lb lbs lch ' +
    'ld lds lf lk lks ll lls lm lms lp lph lps ls lt lth lts ltz mb mbs mn mns mp mph mps ms nc nch ncs nd ' +
    'nds ng ngs nk nks ns nt nth nts ntz nx ph phs pps ps pt pth pts rb rbs rc rch rd rds rf rfs rk rks rl ' +
    'rld rls rm rms rn rns rp rph rps rs rsh rst rt rth rts rtz rv sh sk sks sm sms sp sps ss st sts tch th ' +
    'ths ts tt tts tz wd wds wk wks wl wls wn wns ws xt xth xts zz',
)

/** @returns whether a word of at most five letters cannot be said as one */
function isUnsayable(base: string): boolean {
  const first = /^[^aeiouy]*/i.exec(base)![0].toLowerCase()
  const last = /[^aeiouy]*$/i.exec(base)![0].toLowerCase()
  const isOdd = (cluster: string, known: ReadonlySet<string>) => cluster.length > 1 && !known.has(cluster)
  return isOdd(first, beginnings) || isOdd(last, endings)
}

/** What is around a word. */
export interface Around {
  /** The character behind it; `&` also if it is before it. */
  next: string | undefined
  /** The words beside it, '' where another character than a space is between. */
  left: string
  right: string
}

const alone: Around = { next: undefined, left: '', right: '' }

/** How a word is given to the voice: initialisms letter by letter, names with capitals inside in their parts. */
export function pronounce(word: string, around = alone): string {
  if (/^(?:[SVD]RAM|[VW]LAN)$/.test(word)) return `${word[0]} ${word.slice(1)}`
  // "The 3 Rs", "your Ps and Qs": no word is a consonant and an s.
  if (/^[BCDFGHJKLNPQRTVWXZ]s$/.test(word)) return `${word[0]}'s`
  // M&Ms.
  if (around.next === '&' && /^[A-Z]s$/.test(word)) return `${word[0]}'s`
  if (Object.hasOwn(saidAs, word)) return saidAs[word] as string
  const letters = /^([A-Z]{2,6})('?s)?$/.exec(word)
  if (letters !== null && isInitialism(letters[1] as string, around)) {
    return spell(letters[1] as string) + (letters[2] === undefined ? '' : "'s")
  }
  if (/^(?:[A-Za-z][a-z]{1,4}|[A-Za-z]{2,3})$/.test(word) && isSpelledInLowerCase(word.toLowerCase()))
    return spell(word)
  const mixed = /^(PhD|MSc|BSc|IoT|PoC|QoS|NVMe)('?s)?$/.exec(word)
  if (mixed !== null) return spell(mixed[1] as string) + (mixed[2] === undefined ? '' : "'s")
  if (isFormula(word, around.next)) return spell(word)
  if (word.length > 3 && /[a-z][A-Z]|[A-Z]{3}[a-z]{2}/.test(word)) return splitHumps(word)
  return word
}

const isSpelledInLowerCase = (lower: string): boolean =>
  spelledLower.has(lower) || (!/[aeiou]|.y/.test(lower) && !sound.test(lower))

function isInitialism(base: string, { next, left, right }: Around): boolean {
  if (sound.test(base)) return spelled.has(base)
  // GPT4, F-16, AT&T: what a sign joins is spelled.
  const isJoined = isDigit(next) || next === '-' || next === '&'
  if (isJoined && base.length <= 3) return true
  if (base === 'WHO') return left === 'the'
  // "GET IT" and "TELL US" are shouted, "THE US" is a country.
  if (base === 'IT' || base === 'US') return !(isShouted(left) || isShouted(right)) || (base === 'US' && left === 'THE')
  if (spelled.has(base) || !/[AEIOUY]/.test(base)) return true
  if (base.length <= 3) return !shortWords.has(base) && (isUnsayable(base) || !(isShouted(left) || isShouted(right)))
  return base.length <= 5 && !saidOtherwise.has(base) && isUnsayable(base)
}

const isShouted = (word: string): boolean =>
  word === word.toUpperCase() && (word.length > 3 ? /[AEIOU]/.test(word) && !spelled.has(word) : shortWords.has(word))

const elements = words(
  'H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Zr Nb ' +
    'Mo Ag Cd In Sn Sb Te I Xe Cs Ba W Pt Au Hg Tl Pb Bi Ra Th U Pu',
)

/** "NaCl", and the "Fe" of "Fe2O3". */
function isFormula(word: string, next: string | undefined): boolean {
  if (!/^(?:[A-Z][a-z]?){1,6}$/.test(word) || !/[a-z]/.test(word) || word === 'NaN') return false
  const symbols = word.match(/[A-Z][a-z]?/g) as string[]
  const isShort = symbols.length === 1 && !(isDigit(next) && !/^(?:He|Be|As|In|Co|Th)$/.test(word))
  return !isShort && symbols.every((symbol) => elements.has(symbol))
}

/** "getUserName" -> "get User Name", "XMLHttp" -> "X M L Http"; "McDonald's" and "MacArthur" stay. */
function splitHumps(word: string): string {
  if (/^(?:Mc|Mac|De|Di|La|Le|Du|Fitz|Van|O')[A-Z][a-z]+(?:'s)?$/.test(word)) return word
  const parts = word.replace(/([a-z])(?=[A-Z])|(?<=[A-Z])([A-Z])(?=[A-Z][a-z]{2})/g, '$1$2 ').split(' ')
  return parts.map((part) => (part.length > 1 && isLetter(part[0]) ? pronounce(part) : part)).join(' ')
}
