/**
 * The words of memorable passphrases: 1024 different ones, so that each adds exactly ten bits. Short, concrete, friendly.
 */
export const passphraseWords: readonly string[] = `
acorn alder almond amber anchor angle ankle antler anvil apple apricot apron arbor arcade arch arrow ash aspen
aster atlas attic autumn avenue awning axle badge badger bagel bakery balcony ballad balloon bamboo banana banjo
banner barley barn barrel basil basin basket bassoon bay beach beacon bead beam bean bear beaver beech beehive
beetle bell belt bench berry bicycle birch biscuit bison blanket blossom blue boat bobbin bonnet book boot
border bottle bottom boulder bouquet bow bowl box bracket braid branch brass bread breeze brick bridge brisk
bronze brook broom brush bubble bucket buckle bud buffalo bugle bulb bundle burrow bus bush butter button cabin
cabinet cable cactus cake calm camel camera camp canal canary candle candy canoe canopy canvas canyon cape
caramel caravan carbon cargo carpet carrot cart cascade castle cave cedar celery cellar cello cement center
ceramic chain chair chalk channel chapel charm chart cheese cherry chess chimney chorus cider cinema circle
citrus city clam clay cliff clock cloud clover coach coast coat cobalt cobble cocoa coconut coffee coin collar
comet comma compass copper coral cork corner cotton couch country cousin coyote crab cradle crane crater crayon
cream creek cricket crisp crown crystal cube cup curl current curtain curve cushion cypress dahlia dairy daisy
dance dancer dapple dawn deer delta denim desert desk dew dial diamond diary dingo dinner disk dock dolphin
domain dome domino donkey door dot dough dove dragon drawer dream drift drizzle drum duck dune dusk dust eagle
early earth easel east echo eclipse edge eel elbow elder elk elm ember emerald engine equator essay evening
event ever fabric falcon family fan farm fawn feather felt fence fennel fern ferry fiber fiddle field fig finch
fir fjord flag flame flannel flask flavor fleece flint float flour flower flute foam fog folder forest forge
fork fossil fox frame freckle freight fresco friday frost fruit funnel gable galaxy gallery garden garlic garnet
gate gazelle gecko gentle geyser giant ginger giraffe glacier glade glass glider globe glove goat gold goose
gorge gourd grain granite grape graph grass gravel gravy green grid grove guest guitar gull gusto hair half hall
halo hammer hammock harbor hare harmony harp harvest hat hawk hazel hearth heather hedge heron hickory hill
hinge hive hobby hockey holly honey hood hook hoop horizon horn horse hotel hour house hover humble hut hyacinth
ibis ice icicle igloo indigo ink inlet iris iron island ivory ivy jacket jade jaguar jam jar jasmine jazz jelly
jersey jewel jigsaw journal journey judge jug juice july june jungle juniper jury kayak keel kelp kernel kettle
key kilt kind king kiosk kitchen kite kitten kiwi knee knot koala label lace ladder lagoon lake lamb lamp
lantern lapel larch lark lasso latch lattice laurel lavender lawn leaf league leather ledge lemon lentil leopard
letter lettuce lever library lichen lilac lily lime linen lion liquid lizard llama lobby lobster lodge loft log
loom lotus lunar lunch lute lynx lyric magnet magpie mahogany maize mallard mallet mango mantle maple marble
march margin marina market marlin maroon marsh mask mast meadow medal mellow melody melon mentor mesa meteor
metro middle mild mill mimosa mineral mint mirror mist mitten moat modern mole monday monsoon moon moose morning
mosaic moss moth motor mountain mouse muffin mulberry mural museum mushroom music mustard myrtle napkin narrow
narwhal nation nature navy nebula nectar needle neon nest nettle nickel night noble noodle noon north notch note
novel nugget number nurse nutmeg oak oar oasis oat oatmeal oboe ocean octave octopus office olive omelet onion
opal open opera orange orbit orchard orchid organ origami oriole osprey ostrich otter outpost oval oven owl
oxygen oyster packet paddle page pagoda paint palace palm panda panel pansy panther papaya paper parade parcel
park parrot parsley parsnip party pass pasta pastel pasture patch path patio pattern pavilion peach peacock
peanut pear pearl pebble pecan pedal pelican pencil penguin pepper perch petal pewter phone photo piano picnic
pigeon pillar pillow pilot pine pioneer pipe pixel pizza plain planet plank plate plaza plum plume pocket poem
poet polar pole polka pond pony poplar poppy porch port portal postcard potato potter prairie prism pudding
puddle puffin pulley pulse puma pumpkin puppet purple puzzle pyramid quail quarry quartz quay queen quiet quill
quilt quince quiver rabbit raccoon radar radio radish raft rail rain rainbow raisin rapid raven ravine recipe
red reed reef relay rhubarb rhyme rhythm ribbon rice riddle ridge ring ripple river road robin rocket rondo roof
rook room rooster root rope rose rotor round rover ruby ruffle rug ruler rustic rye saddle saffron sage sail
salad salmon salt salute sample sand sandal sapphire sardine satin saturn sauce scarf scarlet school scone
scooter scout seal season sequoia shade shadow shale shallow shamrock shed sheep shelf shell sherbet shield
shirt shoe shore shovel shrub shutter sierra signal silk silo silver sketch ski sky slate sled slope smooth
snail snow soap soccer socket soda sofa soil solar solid sonata song sorbet sorrel south spark sparrow spice
spinach spindle spiral sponge spoon sprig spring sprout spruce square squash squid stable stadium stage stair
stamp star statue steam steel stem stencil steppe stereo stone stool stork story stove straw stream street
string studio sugar summer summit sun sunday sundial sunset surf swallow swan sweater swift syrup table tablet
tadpole tailor talent tandem tango tape tapestry tapir tarragon tart tea teacup teal temple tempo tennis tent
terrace theater theme thicket thimble thistle thread throne thunder thyme ticket tide tiger tile timber timer
tin toast toffee tomato topaz torch tortoise toucan towel tower town tractor trail train tram treaty tree
trellis trout truck truffle trumpet tuba tulip tuna tundra tunnel turkey turnip turtle tweed twig twilight
umbrella uncle under unicorn union unit upland upper upward urban usher valley valve vanilla vapor velvet
veranda verse vessel vest viaduct village vine vineyard vinyl viola violet violin vista vivid volcano vowel
voyage waffle wagon walnut walrus waltz water wave wax weasel weather weaver wedge west whale wheat wheel
whisper white willow wind window winter wisdom wolf wombat wonder wood wool world wren wrist yacht yard yarn
year yellow yeti yogurt yonder young yucca zebra zenith zephyr zero zigzag zinc zinnia zipper zone
`
  .trim()
  .split(/\s+/);
