"""Small lists of well-known names and of capitalised words that are none: what tells a person from a place."""

from __future__ import annotations

from typing import Final

from uniko_mcp.extract.wordlist import words

GIVEN_NAMES: Final = words(
    """
    Aaron Abby Abigail Adam Adrian Agnes Ahmed Aisha Alan Albert Alejandro Alex Alexa Alexander Alexandra Alfred Ali
    Alice Alicia Alison Allison Amanda Amber Amelia Amir Amy Ana Anastasia Andre Andrea Andreas Andrew Andy Angel
    Angela Anita Ann Anna Anne Annie Anthony Antonio Arjun Arthur Ashley Audrey Austin Ava Barbara Beatrice Becky Ben
    Benjamin Bernard Beth Betty Bill Billy Bob Brad Brandon Brenda Brian Bruce Bruno Caleb Cameron Carl Carla Carlos
    Carmen Carol Caroline Catherine Cathy Charles Charlie Charlotte Chen Chloe Chris Christian Christina Christine
    Christopher Cindy Claire Clara Claudia Colin Connor Craig Crystal Cynthia Daniel Daniela Danny Dave David Dean
    Deborah Denise Dennis Derek Diana Diane Diego Dmitri Dominic Don Donald Donna Doris Dorothy Doug Douglas Dylan Ed
    Eddie Edgar Eduardo Edward Eileen Elaine Elena Eli Elijah Elizabeth Ella Ellen Emily Emma Eric Erica Erik Erin
    Ernest Ethan Eugene Eva Evan Eve Evelyn Fatima Felix Fernando Fiona Florence Francesca Francis Francisco Frank
    Fred Frederick Gabriel Gary Gavin George Gerald Gina Giovanni Gloria Gordon Grace Graham Greg Gregory Gustavo
    Hannah Hans Harold Harry Hassan Heather Hector Heidi Helen Helena Henry Hiroshi Howard Hugo Ian Ibrahim Ines
    Ingrid Irene Iris Isaac Isabel Isabella Ivan Jack Jackie Jacob Jake James Jamie Jan Jane Janet Janice Jared
    Jasmine Jason Javier Jean Jeff Jeffrey Jen Jennifer Jenny Jeremy Jerry Jesse Jessica Jill Jim Jimmy Joan Joanna
    Joe Joel Johan Johannes John Johnny Jon Jonathan Jordan Jorge Jose Joseph Josh Joshua Joy Juan Judith Judy Julia
    Julian Julie Justin Karen Karl Kate Katherine Kathleen Katie Keith Kelly Ken Kenneth Kevin Kim Klaus Kyle Lara
    Larry Laura Lauren Laurie Lawrence Lea Leah Lee Leo Leon Leonard Leonardo Leslie Liam Lily Linda Lisa Liz Logan
    Lois Lori Louis Louise Luca Lucas Lucia Lucy Luis Luke Lydia Lynn Madison Manuel Marc Marcel Marco Marcus Margaret
    Maria Marie Marilyn Mario Marion Marta Martha Martin Marvin Mary Mateo Matt Matteo Matthew Maureen Max Maya Megan
    Mei Melanie Melissa Mia Michael Michelle Miguel Mike Mila Mohamed Mohammed Monica Morgan Nadia Nancy Naomi Natalia
    Natalie Nate Nathan Neil Nicholas Nick Nicolas Nicole Nikolai Nina Noah Noel Nora Norman Oliver Olivia Omar Oscar
    Otto Owen Pablo Pamela Patricia Patrick Paul Paula Pedro Peggy Penny Peter Phil Philip Phillip Priya Rachel Rafael
    Rahul Ralph Ramon Randy Raquel Raymond Rebecca Ricardo Richard Rick Rita Rob Robert Roberto Robin Roger Ron Ronald
    Rosa Rose Ross Roy Russell Ruth Ryan Sally Sam Samantha Samuel Sandra Sara Sarah Scott Sean Sebastian Sergei
    Sergio Shane Shannon Sharon Sheila Shirley Simon Sofia Sonia Sophia Sophie Stanley Stefan Stella Stephanie Stephen
    Steve Steven Stuart Sue Susan Suzanne Sven Sylvia Tamara Tanya Tara Ted Teresa Terry Theo Theodore Theresa Thomas
    Tim Timothy Tina Todd Tom Tommy Tony Tracy Travis Tyler Ursula Valerie Vanessa Vera Veronica Victor Victoria
    Vincent Viola Virginia Vivian Vladimir Walter Wanda Wayne Wendy William Wolfgang Xavier Yasmin Yuki Yusuf Yvonne
    Zachary Zoe
    """
)
PLACES: Final = frozenset(
    name.strip()
    for name in """
    Africa, America, Antarctica, Asia, Europe, South America, North America, Latin America, Middle East, Scandinavia,
    Afghanistan, Albania, Algeria, Angola, Argentina, Armenia, Australia, Austria, Azerbaijan, Bahrain, Bangladesh,
    Belarus, Belgium, Bolivia, Bosnia, Botswana, Brazil, Bulgaria, Cambodia, Cameroon, Canada, Chile, China, Colombia,
    Congo, Costa Rica, Croatia, Cuba, Cyprus, Czechia, Denmark, Dominican Republic, Ecuador, Egypt, El Salvador,
    England, Estonia, Ethiopia, Fiji, Finland, France, Georgia, Germany, Ghana, Great Britain, Greece, Greenland,
    Guatemala, Haiti, Honduras, Hungary, Iceland, India, Indonesia, Iran, Iraq, Ireland, Israel, Italy, Ivory Coast,
    Jamaica, Japan, Kazakhstan, Kenya, Kosovo, Kuwait, Laos, Latvia, Lebanon, Liberia, Libya, Lithuania, Luxembourg,
    Madagascar, Malaysia, Maldives, Mali, Malta, Mexico, Moldova, Monaco, Mongolia, Montenegro, Morocco, Mozambique,
    Myanmar, Namibia, Nepal, Netherlands, New Zealand, Nicaragua, Nigeria, North Korea, Norway, Oman, Pakistan,
    Palestine, Panama, Paraguay, Peru, Philippines, Poland, Portugal, Puerto Rico, Qatar, Romania, Russia, Rwanda,
    Saudi Arabia, Scotland, Senegal, Serbia, Singapore, Slovakia, Slovenia, Somalia, South Africa, South Korea, Spain,
    Sri Lanka, Sudan, Sweden, Switzerland, Syria, Taiwan, Tanzania, Thailand, Tunisia, Turkey, UAE, UK, US, USA,
    Uganda, Ukraine, United Arab Emirates, United Kingdom, United States, Uruguay, Uzbekistan, Venezuela, Vietnam,
    Wales, Yemen, Zambia, Zimbabwe, Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware,
    Florida, Hawaii, Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts,
    Michigan, Minnesota, Mississippi, Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New
    York, North Carolina, North Dakota, Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South
    Dakota, Tennessee, Texas, Utah, Vermont, Washington, West Virginia, Wisconsin, Wyoming, Bavaria, British Columbia,
    Catalonia, Ontario, Quebec, Tuscany, Abu Dhabi, Accra, Addis Ababa, Amsterdam, Ankara, Antwerp, Athens, Atlanta,
    Auckland, Baghdad, Bali, Baltimore, Bangalore, Bangkok, Barcelona, Basel, Beijing, Beirut, Belgrade, Berlin, Bern,
    Birmingham, Bogota, Boston, Brisbane, Bristol, Brooklyn, Brussels, Bucharest, Budapest, Buenos Aires, Cairo,
    Calgary, Cambridge, Cape Town, Caracas, Casablanca, Chennai, Chicago, Cleveland, Cologne, Copenhagen, Cracow,
    Dallas, Delhi, Denver, Detroit, Doha, Dresden, Dubai, Dublin, Edinburgh, Edmonton, Florence, Frankfurt, Geneva,
    Glasgow, Gothenburg, Hamburg, Hanoi, Havana, Helsinki, Ho Chi Minh City, Hong Kong, Honolulu, Houston, Hyderabad,
    Istanbul, Jakarta, Jerusalem, Johannesburg, Karachi, Kathmandu, Kiev, Kolkata, Krakow, Kuala Lumpur, Kyiv, Kyoto,
    Lagos, Lahore, Las Vegas, Leeds, Leipzig, Lima, Lisbon, Liverpool, London, Los Angeles, Lyon, Madrid, Manchester,
    Manhattan, Manila, Marseille, Melbourne, Miami, Milan, Minneapolis, Minsk, Montevideo, Montreal, Moscow, Mumbai,
    Munich, Nairobi, Naples, Nashville, New Delhi, New Orleans, New York City, NYC, Nice, Osaka, Oslo, Ottawa, Oxford,
    Palermo, Paris, Perth, Philadelphia, Phoenix, Pittsburgh, Portland, Porto, Prague, Pune, Quito, Reykjavik, Riga,
    Rio de Janeiro, Rome, Rotterdam, Salzburg, San Diego, San Francisco, San Jose, Santiago, Sao Paulo, Sarajevo,
    Seattle, Seoul, Seville, Shanghai, Shenzhen, Sofia, Stockholm, Stuttgart, Sydney, Tallinn, Tbilisi, Tehran, Tel
    Aviv, Tokyo, Toronto, Turin, Valencia, Vancouver, Venice, Vienna, Vilnius, Warsaw, Wellington, Yokohama, Zagreb,
    Zurich
    """.replace("\n", " ").split(",")
)
ORGANIZATION_WORDS: Final = words(
    """
    Academy Agency Airlines Airways Association Authority Bank Bureau Church Clinic Club College Commission Committee
    Company Corp Corporation Council Court Department Foundation GmbH Group Holdings Hospital Inc Industries Institute
    Institution Laboratories Labs League LLC Ltd Ministry Museum Orchestra Organization Partners Party PLC Press Records
    School Society Studio Studios Systems Technologies Trust Union University
    """
)
PLACE_ENDINGS: Final = words(
    """
    Airport Alley Avenue Bay Beach Boulevard Bridge Canyon Castle Cathedral City Coast County Court District Falls
    Forest Garden Gardens Harbor Hill Hills Island Islands Lake Lane Mountain Mountains Park Peninsula Plaza River
    Road Sea Square Station Street Tower Trail Valley Village
    """
)
PLACE_BEGINNINGS: Final = words("Lake Mount Mt Port Fort San Santa Saint St Cape")
TITLES: Final = words(
    "Mr Mrs Ms Miss Dr Prof Professor President Sir Lady Captain Uncle Aunt Auntie Grandma Grandpa Coach"
)
KIN: Final = words(
    """
    aunt boss boyfriend brother buddy child coach colleague coworker cousin daughter dad dog cat doctor father fiance
    fiancee friend girlfriend granddaughter grandfather grandma grandmother grandpa grandson husband kid manager mate
    mentor mom mother mum neighbor neighbour nephew niece partner pet puppy kitten roommate sister son student teacher
    teammate therapist uncle wife
    """
)
NEVER_NAMES: Final = words(
    """
    a about absolutely actually after again ah aha ahh all almost already also although always am an and another any
    anyone anything anyway apart apparently are aren't as ask at aw awesome aww awww bad basically be beautiful
    because been before being best better between big both bro btw bud but by bye can can't certainly check cheers
    clearly come cool could crazy cute damn dang definitely did didn't do does doesn't don't done dude each either
    else enjoy especially even eventually ever every everybody everyone everything exactly excited exciting few
    finally fine first for from fun fyi general get give given glad go god gonna good goodbye gosh got gotcha great
    haha hahaha happy hard has have haven't having he he's hello help hence her here here's hers hey hi him his hm hmm
    honestly hope hopefully how how's however huge i i'd i'll i'm i've idea if imagine imho imo in incredible indeed
    instead interesting is isn't it it'd it'll it's its just keep last lately later let let's like literally lol look
    looks lots love lovely lucky make many may maybe me might mine more moreover most much must my myself never
    nevertheless next nice no nobody none nope nor not note nothing now of off often oh ok okay omg on once one only
    oops or other otherwise ouch our ours out over overall perfect perhaps personally please plus pretty probably ps
    quick quite rather really recently regarding right sad same second see seems seriously several she she's should
    similarly since so some somebody someone something sometimes somewhere soon sorry sounds still stop sure surely
    take talk tell thank thanks that that'd that'll that's the their theirs them then there there's therefore these
    they they'd they'll they're they've thing things think third this those though thus to today tomorrow tonight too
    totally truly try two ugh uh um under unfortunately unless until up upon us usually very wait was wasn't watch way
    we we'd we'll we're we've welcome well were what what's whatever when whenever where where's wherever whether
    which while who who's whoever whole whose why will wish with without wonderful won't woo would wouldn't wow wtf
    yay yeah yep yes yesterday yet you you'd you'll you're you've your yours yourself yup monday tuesday wednesday
    thursday friday saturday sunday january february march april june july august september october november december
    mondays tuesdays wednesdays thursdays fridays saturdays sundays am pm tv diy faq ceo cto asap eta todo tbd tba etc
    ie eg vs aka mr mrs ms dr internet english french german spanish italian chinese japanese russian american british
    european african asian indian mexican canadian australian korean dutch greek irish portuguese swedish arabic step
    chapter phase part section figure table option example page day week month year sprint task question answer note
    yesterday's today's tomorrow's
    """
)
"""Words, in lower case, that are capitalised at the start of a sentence or by custom and name nothing by themselves."""
