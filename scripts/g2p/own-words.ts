/**
 * Words that the dictionary lacks, and words that most Americans say differently: written by ear for this project. They
 * take precedence over the dictionary.
 */
const lines = `
admire AH0 D M AY1 R
actually AE1 K CH UW0 AH0 L IY0
advantage AH0 D V AE1 N T IH0 JH
airbnb EH2 R B IY1 AH0 N B IY1
ai EY2 AY1
almost AO1 L M OW0 S T
already AO2 L R EH1 D IY0
although AO0 L DH OW1
anime AE1 N AH0 M EY2
anything EH1 N IY0 TH IH2 NG
arkansas AA1 R K AH0 N S AO2
async EY1 S IH2 NG K
atlanta AH0 T L AE1 N T AH0
backend B AE1 K EH2 N D
bass B EY1 S
because B IH0 K AH1 Z
beyond B IY0 Y AA1 N D
bitcoin B IH1 T K OY2 N
blockchain B L AA1 K CH EY2 N
borrow B AA1 R OW0
cannot K AH0 N AA1 T
cargo K AA1 R G OW0
cause K AO1 Z
caused K AO1 Z D
causes K AO1 Z IH0 Z
chatbot CH AE1 T B AA2 T
chatgpt CH AE2 T JH IY2 P IY2 T IY1
concrete K AA1 N K R IY2 T
context K AA1 N T EH0 K S T
contrary K AA1 N T R EH2 R IY0
cost K AO1 S T
covid K OW1 V IH2 D
decrypt D IH0 K R IH1 P T
devops D EH1 V AA2 P S
does D AH1 Z
emoji IH0 M OW1 JH IY0
encrypt IH0 N K R IH1 P T
entire EH0 N T AY1 R
entirely EH0 N T AY1 R L IY0
enum IY1 N AH2 M
especially AH0 S P EH1 SH AH0 L IY0
everything EH1 V ER0 IY0 TH IH2 NG
fifteen F IH2 F T IY1 N
fifteenth F IH2 F T IY1 N TH
gif G IH1 F
golf G AO1 L F
government G AH1 V ER0 N M AH0 N T
himself HH IH2 M S EH1 L F
however HH AW0 EH1 V ER0
iframe AY1 F R EY2 M
invalid IH0 N V AE1 L AH0 D
ios AY2 OW2 EH1 S
json JH EY1 S AH0 N
kokoro K OW1 K AH0 R OW2
kubernetes K UW2 B ER0 N EH1 T IY0 Z
kyiv K IY1 V
length L EH1 NG TH
linux L IH1 N AH0 K S
livestream L AY1 V S T R IY2 M
louis L UW1 IY0
madame M AH0 D AA1 M
markdown M AA1 R K D AW2 N
metadata M EH1 T AH0 D EY2 T AH0
myself M AY0 S EH1 L F
nginx EH2 N JH AH0 N EH1 K S
nothing N AH1 TH IH0 NG
npm EH2 N P IY2 EH1 M
often AO1 F AH0 N
onnx AA1 N IH0 K S
openai OW2 P AH0 N EY2 AY1
opera AA1 P ER0 AH0
ourselves AW0 R S EH1 L V Z
particular P ER0 T IH1 K Y AH0 L ER0
particularly P ER0 T IH1 K Y AH0 L ER0 L IY0
pfft P F T
poor P UH1 R
psst P S T
pst P S T
put P UH1 T
putting P UH1 T IH0 NG
quinoa K IY1 N W AA2
ramen R AA1 M AH0 N
raw R AO1
real R IY1 AH0 L
really R IY1 AH0 L IY0
recall R IH0 K AO1 L
restaurant R EH1 S T ER0 AH0 N T
runtime R AH1 N T AY2 M
several S EH1 V ER0 AH0 L
sixteen S IH2 K S T IY1 N
sixteenth S IH2 K S T IY1 N TH
something S AH1 M TH IH2 NG
sometimes S AH1 M T AY2 M Z
somewhat S AH1 M W AH2 T
sorry S AA1 R IY0
strength S T R EH1 NG TH
struct S T R AH1 K T
success S AH0 K S EH1 S
successful S AH0 K S EH1 S F AH0 L
successfully S AH0 K S EH1 S F AH0 L IY0
suggest S AH0 G JH EH1 S T
suggested S AH0 G JH EH1 S T IH0 D
suggestion S AH0 G JH EH1 S CH AH0 N
suggests S AH0 G JH EH1 S T S
themselves DH AH0 M S EH1 L V Z
thirty TH ER1 T IY0
tiktok T IH1 K T AA2 K
toward T AO1 R D
towards T AO1 R D Z
tsk T S K
tuple T AH1 P AH0 L
ubuntu UW0 B UH1 N T UW0
update AH1 P D EY2 T
updated AH1 P D EY2 T IH0 D
updates AH1 P D EY2 T S
updating AH1 P D EY2 T IH0 NG
vegan V IY1 G AH0 N
vlog V L AO1 G
want W AA1 N T
wanted W AA1 N T IH0 D
wanting W AA1 N T IH0 NG
wants W AA1 N T S
watch W AA1 CH
watched W AA1 CH T
watching W AA1 CH IH0 NG
whatever W AH0 T EH1 V ER0
whenever W EH0 N EH1 V ER0
whereas W EH0 R AE1 Z
wikipedia W IH2 K IH0 P IY1 D IY0 AH0
within W IH0 DH IH1 N
without W IH0 DH AW1 T
yaml Y AE1 M AH0 L
`

export const ownWords: Readonly<Record<string, string>> = Object.fromEntries(
  lines
    .trim()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
)
