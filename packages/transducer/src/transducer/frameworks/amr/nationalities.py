"""Which country, place or people a word such as *Turkish* is about: AMR names that, not the word.

Facts of English, of countries whose name is one word, and of a few regions and peoples. Tokens
offer them to source copy; whether the word is used so, the model decides.

>>> named_after("Turkish"), named_after("Kurds"), named_after("Windows"), named_after("boys")
('Turkey', 'Kurd', 'Window', None)
"""

from __future__ import annotations

_TABLE = """
Afghan Afghanistan; African Africa; Albanian Albania; Algerian Algeria; American America; Andorran
Andorra; Angolan Angola; Arabian Arabia; Argentine Argentina; Argentinian Argentina; Armenian
Armenia; Asian Asia; Athenian Athens; Australian Australia; Austrian Austria; Azerbaijani
Azerbaijan; Azeri Azerbaijan; Bahraini Bahrain; Bangladeshi Bangladesh; Bavarian Bavaria;
Belarusian Belarus; Belgian Belgium; Beninese Benin; Berliner Berlin; Bhutanese Bhutan; Bolivian
Bolivia; Bosnian Bosnia; Botswanan Botswana; Brazilian Brazil; Brit Britain; British Britain;
Briton Britain; Bulgarian Bulgaria; Burmese Burma; Burundian Burundi; Byzantine Byzantium;
Californian California; Cambodian Cambodia; Cameroonian Cameroon; Canadian Canada; Catalan
Catalonia; Chadian Chad; Chechen Chechnya; Chilean Chile; Chinese China; Colombian Colombia;
Congolese Congo; Corsican Corsica; Croat Croatia; Croatian Croatia; Cuban Cuba; Cypriot Cyprus;
Czech Czechia; Dane Denmark; Danish Denmark; Dominican Dominica; Dutch Netherlands; Ecuadorian
Ecuador; Egyptian Egypt; English England; Englishman England; Eritrean Eritrea; Estonian Estonia;
Ethiopian Ethiopia; European Europe; Fijian Fiji; Filipino Philippines; Finn Finland; Finnish
Finland; Flemish Flanders; Florentine Florence; French France; Frenchman France; Gabonese Gabon;
Gambian Gambia; Genoese Genoa; Georgian Georgia; German Germany; Ghanaian Ghana; Greek Greece;
Guatemalan Guatemala; Guinean Guinea; Guyanese Guyana; Haitian Haiti; Hawaiian Hawaii; Honduran
Honduras; Hungarian Hungary; Icelander Iceland; Icelandic Iceland; Indian India; Indonesian
Indonesia; Iranian Iran; Iraqi Iraq; Irish Ireland; Irishman Ireland; Israeli Israel; Italian
Italy; Jamaican Jamaica; Japanese Japan; Javanese Java; Jordanian Jordan; Kashmiri Kashmir; Kazakh
Kazakhstan; Kenyan Kenya; Korean Korea; Kosovar Kosovo; Kurdish Kurdistan; Kuwaiti Kuwait; Kyrgyz
Kyrgyzstan; Lao Laos; Laotian Laos; Latvian Latvia; Lebanese Lebanon; Liberian Liberia; Libyan
Libya; Lithuanian Lithuania; Londoner London; Luxembourger Luxembourg; Macedonian Macedonia;
Malagasy Madagascar; Malawian Malawi; Malaysian Malaysia; Maldivian Maldives; Malian Mali; Maltese
Malta; Manchurian Manchuria; Mauritanian Mauritania; Mauritian Mauritius; Mexican Mexico; Moldovan
Moldova; Mongolian Mongolia; Montenegrin Montenegro; Moroccan Morocco; Mozambican Mozambique;
Namibian Namibia; Nepalese Nepal; Nepali Nepal; Nicaraguan Nicaragua; Nigerian Nigeria; Nigerien
Niger; Norman Normandy; Norwegian Norway; Omani Oman; Pakistani Pakistan; Palestinian Palestine;
Panamanian Panama; Paraguayan Paraguay; Parisian Paris; Persian Persia; Peruvian Peru; Philippine
Philippines; Pole Poland; Polish Poland; Portuguese Portugal; Provençal Provence; Prussian
Prussia; Qatari Qatar; Roman Rome; Romanian Romania; Russian Russia; Rwandan Rwanda; Samoan Samoa;
Sardinian Sardinia; Saxon Saxony; Scandinavian Scandinavia; Scot Scotland; Scottish Scotland;
Scotsman Scotland; Senegalese Senegal; Serb Serbia; Serbian Serbia; Siberian Siberia; Sicilian
Sicily; Singaporean Singapore; Slovak Slovakia; Slovene Slovenia; Slovenian Slovenia; Somali
Somalia; Soviet Soviet; Spaniard Spain; Spanish Spain; Sudanese Sudan; Sumatran Sumatra; Swede
Sweden; Swedish Sweden; Swiss Switzerland; Syrian Syria; Taiwanese Taiwan; Tajik Tajikistan; Tamil
Tamil; Tanzanian Tanzania; Tasmanian Tasmania; Texan Texas; Thai Thailand; Tibetan Tibet; Togolese
Togo; Tongan Tonga; Tunisian Tunisia; Turk Turkey; Turkish Turkey; Turkmen Turkmenistan; Tuscan
Tuscany; Ugandan Uganda; Ukrainian Ukraine; Uruguayan Uruguay; Uzbek Uzbekistan; Venetian Venice;
Venezuelan Venezuela; Viennese Vienna; Vietnamese Vietnam; Welsh Wales; Welshman Wales; Yemeni
Yemen; Yugoslav Yugoslavia; Zairian Zaire; Zambian Zambia; Zimbabwean Zimbabwe
"""
_NAMED: dict[str, str] = dict(entry.split() for entry in _TABLE.split(";"))


def named_after(form: str) -> str | None:
    """Return the name behind a word with a capital; of an unknown plural its singular."""
    if not form[:1].isupper():
        return None
    singular = form[:-1] if form.endswith("s") and not form.endswith("ss") and len(form) > 3 else ""
    known = _NAMED.get(form) or _NAMED.get(singular)
    return known or (singular if singular.isalpha() and not singular.isupper() else None)
