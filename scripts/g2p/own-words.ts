/**
 * Words that the dictionary lacks, and words that most Americans say differently: written by ear for this project. They
 * take precedence over the dictionary.
 */
const lines = `
aaliyah AA0 L IY1 AH0
abuja AH0 B UW1 JH AH0
acai AA2 S AA0 IY1
accra AH0 K R AA1
actually AE1 K CH UW0 AH0 L IY0
adeyemi AA2 D EY0 Y EH1 M IY0
admire AH0 D M AY1 R
advantage AH0 D V AE1 N T IH0 JH
ai EY2 AY1
aidan EY1 D AH0 N
aiden EY1 D AH0 N
airbnb EH2 R B IY1 AH0 N B IY1
alejandro AA2 L EY0 HH AA1 N D R OW0
alibaba AA2 L IY0 B AA1 B AH0
almost AO1 L M OW0 S T
already AO2 L R EH1 D IY0
although AO0 L DH OW1
amman AA0 M AA1 N
anais AA2 N AA0 IY1 S
anemone AH0 N EH1 M AH0 N IY0
anika AA1 N IH0 K AH0
anime AE1 N AH0 M EY2
anthropic AE0 N TH R AA1 P IH0 K
anything EH1 N IY0 TH IH2 NG
arent AA1 R AH0 N T
arkansas AA1 R K AH0 N S AO2
asuncion AA0 S UW2 N S IY0 OW1 N
asus EY1 S UW2 S
async EY1 S IH2 NG K
atlanta AH0 T L AE1 N T AH0
audi AW1 D IY0
ayesha AY1 SH AH0
backend B AE1 K EH2 N D
bae B EY1
balenciaga B AH0 L EH2 N S IY0 AA1 G AH0
bass B EY1 S
because B IH0 K AH1 Z
beijing B EY2 JH IH1 NG
beloved B IH0 L AH1 V IH0 D
bengio B EH1 N JH IY0 OW0
benin B AH0 N IY1 N
beyond B IY0 Y AA1 N D
bezos B EY1 Z OW2 S
bitcoin B IH1 T K OY2 N
blockchain B L AA1 K CH EY2 N
boatswain B OW1 S AH0 N
bokeh B OW1 K EY2
borrow B AA1 R OW0
botticelli B AA2 T IH0 CH EH1 L IY0
bratislava B R AE2 T IH0 S L AA1 V AH0
bruschetta B R UW0 S K EH1 T AH0
buttigieg B UW1 T IH0 JH EH2 JH
cabo K AA1 B OW0
camila K AH0 M IY1 L AH0
camus K AA0 M UW1
cancun K AE2 N K UW1 N
cannes K AE1 N
cannot K AH0 N AA1 T
cargo K AA1 R G OW0
cause K AO1 Z
caused K AO1 Z D
causes K AO1 Z IH0 Z
celtic K EH1 L T IH0 K
celtics S EH1 L T IH0 K S
ceviche S AH0 V IY1 CH EY0
chalamet SH AE1 L AH0 M EY2
charcuterie SH AA0 R K UW1 T ER0 IY0
chatbot CH AE1 T B AA2 T
chatgpt CH AE2 T JH IY2 P IY2 T IY1
chavez CH AA1 V EH2 Z
chisinau K IH2 SH IH0 N AW1
chorizo CH ER0 IY1 Z OW0
ciara S IY0 EH1 R AH0
comoros K AA1 M ER0 OW2 Z
concrete K AA1 N K R IY2 T
context K AA1 N T EH0 K S T
contrary K AA1 N T R EH2 R IY0
cost K AO1 S T
couldnt K UH1 D AH0 N T
covid K OW1 V IH2 D
crudites K R UW2 D IH0 T EY1
danone D AH0 N OW1 N
debussy D EH2 B Y UW0 S IY1
decrypt D IH0 K R IH1 P T
degas D EY0 G AA1
deja D EY1 ZH AA0
delimiter D IH0 L IH1 M IH0 T ER0
delimiters D IH0 L IH1 M IH0 T ER0 Z
dequeue D IY2 K Y UW1
devops D EH1 V AA2 P S
didnt D IH1 D AH0 N T
dijkstra D AY1 K S T R AH0
dijon D IY0 ZH AA1 N
django JH AE1 NG G OW0
does D AH1 Z
doesnt D AH1 Z AH0 N T
dont D OW1 N T
dubois D UW0 B W AA1
duolingo D UW2 OW0 L IH1 NG G OW0
edamame EH2 D AH0 M AA1 M EY0
elena EH0 L EY1 N AH0
eloise EH1 L OW0 IY2 Z
emoji IH0 M OW1 JH IY0
encrypt IH0 N K R IH1 P T
enqueue IH0 N K Y UW1
entire EH0 N T AY1 R
entirely EH0 N T AY1 R L IY0
enum IY1 N AH2 M
erlang ER1 L AE2 NG
esme EH1 Z M EY0
especially AH0 S P EH1 SH AH0 L IY0
eswatini EH2 S W AA0 T IY1 N IY0
everything EH1 V ER0 IY0 TH IH2 NG
eww IY1 UW0
ezekiel IH0 Z IY1 K IY0 AH0 L
fajita F AH0 HH IY1 T AH0
fatima F AA1 T IY2 M AH0
faux F OW1
felipe F EH0 L IY1 P EY0
fiancee F IY2 AA0 N S EY1
fifteen F IH2 F T IY1 N
fifteenth F IH2 F T IY1 N TH
gauguin G OW0 G AE1 N
ghana G AA1 N AH0
gianna JH IY0 AA1 N AH0
gif G IH1 F
givenchy ZH IY2 V AA0 N SH IY1
goethe G ER1 T AH0
golang G OW1 L AE2 NG
golf G AO1 L F
gouda G UW1 D AH0
government G AH1 V ER0 N M AH0 N T
gzip JH IY1 Z IH2 P
habanero HH AA2 B AH0 N EH1 R OW0
haha HH AA1 HH AA1
hahaha HH AA1 HH AA1 HH AA1
hamish HH EY1 M IH0 SH
hanoi HH AE0 N OY1
hasnt HH AE1 Z AH0 N T
hassabis HH AH0 S AA1 B IH0 S
havent HH AE1 V AH0 N T
heisenberg HH AY1 Z AH0 N B ER0 G
hexadecimal HH EH2 K S AH0 D EH1 S AH0 M AH0 L
hibari HH IH0 B AA1 R IY0
himself HH IH2 M S EH1 L F
hors AO1 R
however HH AW0 EH1 V ER0
huang HH W AA1 NG
huawei W AA1 W EY2
hypervisor HH AY1 P ER0 V AY2 Z ER0
iframe AY1 F R EY2 M
instacart IH1 N S T AH0 K AA2 R T
instagram IH1 N S T AH0 G R AE2 M
intel IH1 N T EH2 L
invalid IH0 N V AE1 L AH0 D
ios AY2 OW2 EH1 S
isla AY1 L AH0
isnt IH1 Z AH0 N T
ive AY1 V
json JH EY1 S AH0 N
jupyter JH UW1 P IH0 T ER0
kamala K AA1 M AH0 L AH0
kathmandu K AE2 T M AE0 N D UW1
kia K IY1 AH0
knuth K AH0 N UW1 TH
kokoro K OW1 K AH0 R OW2
kubernetes K UW2 B ER0 N EH1 T IY0 Z
kyiv K IY1 V
laplace L AH0 P L AA1 S
leila L EY1 L AH0
length L EH1 NG TH
lesotho L AH0 S UW1 T UW0
lima L IY1 M AH0
linux L IH1 N AH0 K S
livestream L AY1 V S T R IY2 M
lodash L OW1 D AE2 SH
loreal L AO2 R IY0 AE1 L
louis L UW1 IY0
lululemon L UW2 L UW0 L EH1 M AH0 N
macron M AH0 K R OW1 N
madame M AH0 D AA1 M
maeve M EY1 V
maldives M AA1 L D IY0 V Z
mallorca M AH0 Y AO1 R K AH0
marinara M EH2 R AH0 N EH1 R AH0
markdown M AA1 R K D AW2 N
marrakesh M EH2 R AH0 K EH1 SH
matcha M AA1 CH AH0
mauritius M AO0 R IH1 SH AH0 S
melania M AH0 L AA1 N IY0 AH0
metadata M EH1 T AH0 D EY2 T AH0
mila M IY1 L AH0
mkdir M EY1 K D IH2 R
myself M AY0 S EH1 L F
nauru N AA0 UW1 R UW0
nginx EH2 N JH AH0 N EH1 K S
nguyen W IH1 N
niamh N IY1 V
nicoise N IY0 S W AA1 Z
nothing N AH1 TH IH0 NG
npm EH2 N P IY2 EH1 M
oaxaca W AH0 HH AA1 K AH0
often AO1 F AH0 N
ollama OW0 L AA1 M AH0
onnx AA1 N IH0 K S
onomatopoeia AA2 N AH0 M AA2 T AH0 P IY1 AH0
openai OW2 P AH0 N EY2 AY1
opera AA1 P ER0 AH0
ourselves AW0 R S EH1 L V Z
ozempic OW0 Z EH1 M P IH0 K
paella P AA0 EY1 Y AH0
palantir P AE1 L AH0 N T IH2 R
palau P AH0 L AW1
paraguay P EH1 R AH0 G W AY2
particular P ER0 T IH1 K Y AH0 L ER0
particularly P ER0 T IH1 K Y AH0 L ER0 L IY0
pas P AA1
patreon P EY1 T R IY0 AA2 N
peloton P EH1 L AH0 T AA2 N
petrov P EH1 T R AA2 V
pfft P F T
phnom P AH0 N AA1 M
pho F AH1
pichai P IH0 CH AY1
pls P L IY1 Z
poincare P W AE2 NG K AA0 R EY1
poor P UH1 R
postgre P OW1 S T G R EY2
postgres P OW1 S T G R EH2 S
priya P R IY1 Y AH0
psst P S T
pst P S T
put P UH1 T
putting P UH1 T IH0 NG
pypi P AY1 P IY2 AY2
quantize K W AA1 N T AY2 Z
quantized K W AA1 N T AY2 Z D
quesadilla K EY2 S AH0 D IY1 AH0
quinoa K IY1 N W AA2
quito K IY1 T OW0
ramen R AA1 M AH0 N
ratatouille R AE2 T AH0 T UW1 IY0
ravi R AA1 V IY0
raw R AO1
readme R IY1 D M IY2
real R IY1 AH0 L
really R IY1 AH0 L IY0
recall R IH0 K AO1 L
redis R EH1 D IH0 S
regexp R EH1 JH EH2 K S P
restaurant R EH1 S T ER0 AH0 N T
runtime R AH1 N T AY2 M
sadie S EY1 D IY0
saoirse S ER1 SH AH0
sasha S AA1 SH AH0
sashimi S AA0 SH IY1 M IY0
schnitzel SH N IH1 T S AH0 L
scorsese S K AO0 R S EY1 Z IY0
segue S EH1 G W EY2
several S EH1 V ER0 AH0 L
shein SH IY0 IH1 N
shouldnt SH UH1 D AH0 N T
siobhan SH AH0 V AO1 N
sixteen S IH2 K S T IY1 N
sixteenth S IH2 K S T IY1 N TH
skopje S K OW1 P Y EH0
something S AH1 M TH IH2 NG
sometimes S AH1 M T AY2 M Z
somewhat S AH1 M W AH2 T
sorry S AA1 R IY0
sriracha S ER0 AA1 CH AH0
stderr S T AE2 N D ER0 D EH1 R ER0
stdin S T AE2 N D ER0 D IH1 N
stdlib S T AE2 N D ER0 D L IH1 B
stdout S T AE2 N D ER0 D AW1 T
strength S T R EH1 NG TH
struct S T R AH1 K T
success S AH0 K S EH1 S
successful S AH0 K S EH1 S F AH0 L
successfully S AH0 K S EH1 S F AH0 L IY0
suggest S AH0 G JH EH1 S T
suggested S AH0 G JH EH1 S T IH0 D
suggestion S AH0 G JH EH1 S CH AH0 N
suggests S AH0 G JH EH1 S T S
synecdoche S IH0 N EH1 K D AH0 K IY0
sysadmin S IH1 S AE2 D M IH0 N
tallinn T AA1 L IH0 N
tapas T AA1 P AH0 S
tchaikovsky CH AY0 K AO1 F S K IY0
temu T EY1 M UW0
thats DH AE1 T S
themselves DH AH0 M S EH1 L V Z
theyre DH EH1 R
thirty TH ER1 T IY0
thx TH AE1 NG K S
tiktok T IH1 K T AA2 K
tirana T IH0 R AA1 N AH0
tonga T AA1 NG G AH0
toward T AO1 R D
towards T AO1 R D Z
traversal T R AH0 V ER1 S AH0 L
tsk T S K
tuple T AH1 P AH0 L
turkiye T ER1 K IY0 Y EH0
ubisoft Y UW1 B IH0 S AO2 F T
ubuntu UW0 B UH1 N T UW0
uefa Y UW0 EY1 F AH0
unary Y UW1 N ER0 IY0
uniqlo Y UW1 N IY0 K L OW2
update AH1 P D EY2 T
updated AH1 P D EY2 T IH0 D
updates AH1 P D EY2 T S
updating AH1 P D EY2 T IH0 NG
uruguay Y UH1 R AH0 G W AY2
usr Y UW1 Z ER0
vanuatu V AA2 N UW0 AA1 T UW0
vegan V IY1 G AH0 N
verbose V ER0 B OW1 S
vercel V ER0 S EH1 L
vientiane V Y EH2 N T Y AA1 N
villeneuve V IY1 L N UW0 V
vinaigrette V IH2 N AH0 G R EH1 T
vlog V L AO1 G
want W AA1 N T
wanted W AA1 N T IH0 D
wanting W AA1 N T IH0 NG
wants W AA1 N T S
wasabi W AH0 S AA1 B IY0
wasnt W AA1 Z AH0 N T
watch W AA1 CH
watched W AA1 CH T
watching W AA1 CH IH0 NG
werent W ER1 AH0 N T
whatever W AH0 T EH1 V ER0
whats W AH1 T S
whatsapp W AH1 T S AE2 P
whenever W EH0 N EH1 V ER0
whereas W EH0 R AE1 Z
wikipedia W IH2 K IH0 P IY1 D IY0 AH0
windhoek V IH1 N T HH UH2 K
within W IH0 DH IH1 N
without W IH0 DH AW1 T
wont W OW1 N T
wouldnt W UH1 D AH0 N T
xcode EH1 K S K OW2 D
xiaomi SH AW1 M IY0
ximena HH IH0 M EY1 N AH0
xu SH UW1
yaml Y AE1 M AH0 L
youre Y UH1 R
yusuf Y UW1 S AH0 F
zara Z AA1 R AH0
zendaya Z EH0 N D EY1 AH0
zhang JH AA1 NG
zhao JH AW1
zhou JH OW1
zyrtec Z ER1 T EH2 K
`

export const ownWords: Readonly<Record<string, string>> = Object.fromEntries(
  lines
    .trim()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
)
