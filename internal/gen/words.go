package gen

import (
	"maps"
	"slices"
	"strings"
)

// The word lists are small and of plain ASCII, so that they may stand in a JSON string.

func femaleNames() []string {
	return strings.Fields(`Anna Beatrix Carla Dorothea Elif Fatima Greta Hana Ingrid Jasmin Katarina Leila Maren Nadia
		Oksana Paula Quirina Rosa Selma Teresa Ulrike Valentina Wanda Xenia Yara Zofia`)
}

func maleNames() []string {
	return strings.Fields(`Anton Bruno Carlos Dmitri Emil Felix Gustav Hassan Igor Jonas Karim Lars Mateo Nils Omar
		Pavel Quentin Rafael Stefan Tariq Umberto Viktor Walter Xaver Yusuf Zoltan`)
}

func lastNames() []string {
	return strings.Fields(`Abel Bergmann Castro Dahl Eriksen Fischer Gruber Haas Ivanov Jansen Keller Lindgren Moreau
		Nowak Okafor Petrov Quist Rossi Schneider Tanaka Urban Vogel Weber Xu Yilmaz Zimmer Alvarez Bauer Cohen Duval
		Engel Frank Garcia Holm Iversen Jung Kowalski Lang Meyer Novak`)
}

func companies() []string {
	return strings.Fields(`Alpenwerk Brightfold Coldharbor Driftline Evergrid Farpoint Glaciera Highmoor Icefall
		Junipera Kestrelix Lumenor Moraine Northbeam Orbitale Peakwise Quillon Ridgeway Snowcrest Tarnova Upland
		Valleon Westmark Xylotec Yardarm Zenithal`)
}

func streets() []string {
	var streets []string
	for name := range strings.FieldsSeq(`Alder Birch Chapel Dairy Elm Foundry Garden Harbor Ivy Juniper Kiln Lantern
		Mill Nursery Orchard Poplar Quarry River Station Thistle`) {
		streets = append(streets, name+" Street", name+" Lane")
	}
	return streets
}

func cities() []string {
	return strings.Fields(`Ashford Bellmont Clearwater Dunmore Eastvale Fairhaven Glenwood Hartfield Ironton Jamesport
		Kingsbury Lakemont Millbrook Northfield Oakdale Pinehurst Queensbury Riverton Stonebridge Thornton Underhill
		Vernon Westbrook Yorktown Zionville`)
}

func states() []string {
	return split(`Alabama,Alaska,Arizona,Arkansas,California,Colorado,Connecticut,Delaware,Florida,Georgia,Hawaii,Idaho,
		Illinois,Indiana,Iowa,Kansas,Kentucky,Louisiana,Maine,Maryland,Massachusetts,Michigan,Minnesota,Mississippi,
		Missouri,Montana,Nebraska,Nevada,New Hampshire,New Jersey,New Mexico,New York,North Carolina,North Dakota,Ohio,
		Oklahoma,Oregon,Pennsylvania,Rhode Island,South Carolina,South Dakota,Tennessee,Texas,Utah,Vermont,Virginia,
		Washington,West Virginia,Wisconsin,Wyoming`)
}

func loremWords() []string {
	return strings.Fields(`lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut
		labore et dolore magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea
		commodo consequat duis aute irure in reprehenderit voluptate velit esse cillum eu fugiat nulla pariatur
		excepteur sint occaecat cupidatat non proident sunt culpa qui officia deserunt mollit anim id est laborum`)
}

// split cuts a list at its commas and drops the white space of the source text around them.
func split(list string) []string {
	words := strings.Split(list, ",")
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	return words
}

func countryCodes() []string { return slices.Sorted(maps.Keys(countriesByCode())) }

func countryNames() []string { return slices.Sorted(maps.Values(countriesByCode())) }

// countriesByCode are the codes of ISO 3166-1 alpha-2 with short English names, in ASCII.
func countriesByCode() map[string]string {
	countries := map[string]string{}
	for _, entry := range split(countryList) {
		code, name, _ := strings.Cut(entry, " ")
		countries[code] = name
	}
	return countries
}

const countryList = `
	AD Andorra,AE United Arab Emirates,AF Afghanistan,AG Antigua and Barbuda,AI Anguilla,AL Albania,AM Armenia,
	AO Angola,AQ Antarctica,AR Argentina,AS American Samoa,AT Austria,AU Australia,AW Aruba,AX Aland Islands,
	AZ Azerbaijan,BA Bosnia and Herzegovina,BB Barbados,BD Bangladesh,BE Belgium,BF Burkina Faso,BG Bulgaria,
	BH Bahrain,BI Burundi,BJ Benin,BL Saint Barthelemy,BM Bermuda,BN Brunei,BO Bolivia,BQ Caribbean Netherlands,
	BR Brazil,BS Bahamas,BT Bhutan,BV Bouvet Island,BW Botswana,BY Belarus,BZ Belize,CA Canada,CC Cocos Islands,
	CD Congo (Kinshasa),CF Central African Republic,CG Congo (Brazzaville),CH Switzerland,CI Ivory Coast,
	CK Cook Islands,CL Chile,CM Cameroon,CN China,CO Colombia,CR Costa Rica,CU Cuba,CV Cape Verde,CW Curacao,
	CX Christmas Island,CY Cyprus,CZ Czechia,DE Germany,DJ Djibouti,DK Denmark,DM Dominica,
	DO Dominican Republic,DZ Algeria,EC Ecuador,EE Estonia,EG Egypt,EH Western Sahara,ER Eritrea,ES Spain,
	ET Ethiopia,FI Finland,FJ Fiji,FK Falkland Islands,FM Micronesia,FO Faroe Islands,FR France,GA Gabon,
	GB United Kingdom,GD Grenada,GE Georgia,GF French Guiana,GG Guernsey,GH Ghana,GI Gibraltar,GL Greenland,
	GM Gambia,GN Guinea,GP Guadeloupe,GQ Equatorial Guinea,GR Greece,GS South Georgia,GT Guatemala,GU Guam,
	GW Guinea-Bissau,GY Guyana,HK Hong Kong,HM Heard and McDonald Islands,HN Honduras,HR Croatia,HT Haiti,
	HU Hungary,ID Indonesia,IE Ireland,IL Israel,IM Isle of Man,IN India,IO British Indian Ocean Territory,
	IQ Iraq,IR Iran,IS Iceland,IT Italy,JE Jersey,JM Jamaica,JO Jordan,JP Japan,KE Kenya,KG Kyrgyzstan,
	KH Cambodia,KI Kiribati,KM Comoros,KN Saint Kitts and Nevis,KP North Korea,KR South Korea,KW Kuwait,
	KY Cayman Islands,KZ Kazakhstan,LA Laos,LB Lebanon,LC Saint Lucia,LI Liechtenstein,LK Sri Lanka,LR Liberia,
	LS Lesotho,LT Lithuania,LU Luxembourg,LV Latvia,LY Libya,MA Morocco,MC Monaco,MD Moldova,ME Montenegro,
	MF Saint Martin,MG Madagascar,MH Marshall Islands,MK North Macedonia,ML Mali,MM Myanmar,MN Mongolia,
	MO Macao,MP Northern Mariana Islands,MQ Martinique,MR Mauritania,MS Montserrat,MT Malta,MU Mauritius,
	MV Maldives,MW Malawi,MX Mexico,MY Malaysia,MZ Mozambique,NA Namibia,NC New Caledonia,NE Niger,
	NF Norfolk Island,NG Nigeria,NI Nicaragua,NL Netherlands,NO Norway,NP Nepal,NR Nauru,NU Niue,NZ New Zealand,
	OM Oman,PA Panama,PE Peru,PF French Polynesia,PG Papua New Guinea,PH Philippines,PK Pakistan,PL Poland,
	PM Saint Pierre and Miquelon,PN Pitcairn,PR Puerto Rico,PS Palestine,PT Portugal,PW Palau,PY Paraguay,
	QA Qatar,RE Reunion,RO Romania,RS Serbia,RU Russia,RW Rwanda,SA Saudi Arabia,SB Solomon Islands,
	SC Seychelles,SD Sudan,SE Sweden,SG Singapore,SH Saint Helena,SI Slovenia,SJ Svalbard and Jan Mayen,
	SK Slovakia,SL Sierra Leone,SM San Marino,SN Senegal,SO Somalia,SR Suriname,SS South Sudan,
	ST Sao Tome and Principe,SV El Salvador,SX Sint Maarten,SY Syria,SZ Eswatini,TC Turks and Caicos Islands,
	TD Chad,TF French Southern Territories,TG Togo,TH Thailand,TJ Tajikistan,TK Tokelau,TL Timor-Leste,
	TM Turkmenistan,TN Tunisia,TO Tonga,TR Turkey,TT Trinidad and Tobago,TV Tuvalu,TW Taiwan,TZ Tanzania,
	UA Ukraine,UG Uganda,UM US Outlying Islands,US United States,UY Uruguay,UZ Uzbekistan,VA Vatican City,
	VC Saint Vincent and the Grenadines,VE Venezuela,VG British Virgin Islands,VI US Virgin Islands,VN Vietnam,
	VU Vanuatu,WF Wallis and Futuna,WS Samoa,YE Yemen,YT Mayotte,ZA South Africa,ZM Zambia,ZW Zimbabwe`
